// What a trace is, whether it is whole, and its parts: what `info`, `check` and `ls` say.

import { el, facts, grouped, offset, refill, size } from "./parts.js";

const FINDINGS_SHOWN = 300, FACTS_SHOWN = 300;
// Each one is an element, which takes time to lay out.
export const CELLS_SHOWN = 2000;

// The labels and values of `info`, as it prints them.
export function labelled(text) {
  const lines = text.split("\n").slice(1), pairs = [];
  // Values begin where that of the first line does.
  const indent = /^ {2}\S+ +/.exec(lines[0] ?? "")?.[0].length ?? 0;
  for (const line of lines) {
    if (!line.startsWith("  ")) continue;
    const label = line.slice(2, indent).trim(), value = line.slice(indent);
    if (label || !pairs.length) pairs.push([label, value]);
    else pairs[pairs.length - 1][1] += "\n" + value;
  }
  return pairs;
}

// True if a value of a part is a place in its file.
export const isOffset = (name, value) =>
  Number.isSafeInteger(value) && value >= 0 && (name === "offset" || (name.endsWith("_offset") && name !== "gain_offset"));

export class Overview {
  constructor({ onOffset }) {
    this.onOffset = onOffset;
    this.head = el("div", { class: "card" });
    this.facts = el("div", { class: "card", hidden: true });
    this.findings = el("div", { class: "card", hidden: true });
    this.root = el("section", {}, el("div", { class: "overview" }, this.head, this.facts, this.findings));
    this.parts = el("div", { class: "card parts", hidden: true });
    this.partsRoot = el("section", {}, el("div", { class: "overview" }, this.parts));
  }

  // Before anything is read; nothing of what was there before is kept.
  waiting(name, bytes, count) {
    for (const card of [this.facts, this.findings, this.parts]) {
      card.hidden = true;
      refill(card);
    }
    refill(this.head, el("div", { class: "verdict" },
      el("span", { class: "format" }, name),
      el("span", { class: "dim" }, `${size(bytes)}${count > 1 ? `, ${grouped(count)} files` : ""} · reading…`)));
    this.is_waiting = true;
  }

  // Says why there is no more to come.
  stopped(why) {
    const said = () => el("p", { class: "bad" }, why);
    if (this.is_waiting) refill(this.head, said());
    for (const card of [this.findings, this.parts].filter((one) => one.hidden)) {
      card.hidden = this.is_waiting && card === this.findings;
      refill(card, said());
    }
  }

  info(json, text, errors) {
    this.is_waiting = false;
    const names = { clean: ["whole", "good"], damaged: ["damaged", "bad"], unreadable: ["unreadable", "bad"] };
    const [word, style] = names[json.verdict] ?? ["not all of it was read", "warn"];
    const pairs = labelled(text), title = pairs.find(([label]) => label === "format")?.[1] ?? json.format ?? "not a known format";
    refill(this.head, el("div", { class: "verdict" },
      el("span", { class: "format" }, title), el("span", { class: `badge ${style}`, id: "verdict" }, word),
      json.bytes == null ? null : el("span", { class: "dim" }, size(json.bytes))));
    if (errors) this.head.append(el("p", { class: "bad" }, errors));
    const rest = pairs.filter(([label]) => label !== "format").slice(0, FACTS_SHOWN);
    this.facts.hidden = !rest.length;
    refill(this.facts, el("h2", {}, "What it says"), facts(rest));
  }

  check({ json: { findings }, count, cut }) {
    this.findings.hidden = false;
    const shown = findings.slice(0, FINDINGS_SHOWN);
    refill(this.findings,
        el("h2", {}, "Findings"),
      findings.length
        ? el("table", {},
          el("thead", {}, el("tr", {}, ...["offset", "severity", "what", "message"].map((name) => el("th", {}, name)))),
          el("tbody", {}, ...shown.map((finding) => el("tr", {},
            el("td", {}, el("button", { class: "link", onclick: () => this.onOffset(finding.offset, finding.path) }, offset(finding.offset))),
            el("td", { class: finding.severity === "error" ? "bad" : "warn" }, finding.severity),
            el("td", {}, finding.what), el("td", {}, `${finding.path ? `${finding.path}: ` : ""}${finding.message}`)))))
        : el("p", { class: "good" }, "None: everything was read and verified."),
      count > shown.length ? el("p", { class: "dim" }, `and ${cut ? "at least " : ""}${grouped(count - shown.length)} more`) : null);
  }

  ls({ rows: parts, count, cut, errors }) {
    const names = [...new Set(parts.flatMap((part) => Object.keys(part)))]
      // A time is shown as people read it.
      .filter((name) => parts.some((part) => part[name] != null) && !(name.endsWith("time_ns") && parts.some((part) => part[name.slice(0, -3)] != null)));
    const shown = parts.slice(0, Math.ceil(CELLS_SHOWN / Math.max(1, names.length)));
    this.parts.hidden = false;
    refill(this.parts,
        el("h2", {}, "Parts"),
      errors ? el("p", { class: "warn" }, errors) : null,
      el("table", {},
        el("thead", {}, el("tr", {}, ...names.map((name) => el("th", {}, name)))),
        el("tbody", {}, ...shown.map((part) => el("tr", {}, ...names.map((name) => this.cell(part, name)))))),
      count > shown.length ? el("p", { class: "dim" }, `the first ${grouped(shown.length)} of ${cut ? "more than " : ""}${grouped(count)}`) : null);
  }

  cell(part, name) {
    const value = part[name];
    if (isOffset(name, value)) {
      return el("td", { class: "number" }, el("button", { class: "link", onclick: () => this.onOffset(value, part.path) }, offset(value)));
    }
    const isNumber = typeof value === "number";
    const text = value == null ? "" : Number.isSafeInteger(value) ? grouped(value) : typeof value === "object" ? JSON.stringify(value) : String(value);
    return el("td", { class: isNumber ? "number" : "" }, text);
  }
}
