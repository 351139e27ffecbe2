// The records as a table of any length: only the lines that are seen are elements.

import { el, facts, grouped, refill } from "./parts.js";

const LINE = 22, FIELDS_MAX = 200;
// Browsers do not lay out what is much higher.
const HEIGHT_MAX = 8_000_000;

export class Records {
  constructor(reader, { onBytes, onError }) {
    Object.assign(this, { reader, onBytes, onError, count: 0, first: 0, turn: 0 });
    const input = (placeholder, label, properties = {}) =>
      el("input", { type: "text", class: "short", placeholder, "aria-label": label, ...properties });
    this.text = el("input", { type: "search", placeholder: "Filter by text", "aria-label": "Filter by text" });
    this.name = input("name, * is any", "Name");
    this.from = input("from, as +1.5s", "From");
    this.to = input("to, as +2s", "To");
    this.told = el("span", { class: "dim", role: "status" });
    this.sizer = el("div", { class: "sizer" });
    this.list = el("div", { class: "rows", tabIndex: 0, role: "listbox", "aria-label": "Records" }, this.sizer);
    this.side = el("aside", { class: "side", "aria-label": "Record" });
    this.root = el("section", { class: "column" },
      el("div", { class: "bar" }, this.text, this.name, this.from, this.to,
        el("button", { onclick: () => this.load() }, "Read"), this.told),
      el("div", { class: "split" }, this.list, this.side));
    this.list.addEventListener("scroll", () => this.fill());
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("input", () => this.filter());
    for (const one of [this.name, this.from, this.to]) {
      one.addEventListener("keydown", (event) => { if (event.key === "Enter") this.load(); });
    }
    new ResizeObserver(() => this.fill()).observe(this.list);
    this.empty();
  }

  // Lets go of all records: what is still read for them comes too late.
  empty(why = "") {
    Object.assign(this, { turn: this.turn + 1, count: 0, selected: null, place: undefined, wanted: null, is_loaded: false, loading: null });
    this.list.replaceChildren(this.sizer);
    refill(this.side, el("p", { class: "dim" }, "Select a record to see its fields and its bytes."));
    this.told.className = "dim";
    this.told.textContent = why;
  }

  // The worker that had them has ended.
  forget(why) {
    if (this.is_loaded || this.loading) this.empty(`${why}: Read reads the records again`);
  }

  reset(path) {
    this.path = path;
    this.empty();
    for (const one of [this.text, this.name, this.from, this.to]) one.value = "";
  }

  // Reads them, unless that was done or is being done, or it is not known yet of what.
  show() {
    if (this.is_loaded) return this.fill();
    return this.loading ?? this.load();
  }

  load() {
    if (!this.path) return;
    this.empty("reading…");
    return (this.loading = this.read(this.turn));
  }

  async read(turn) {
    const args = ["cat", "--json"];
    for (const [option, { value }] of [["--name", this.name], ["--from", this.from], ["--to", this.to]]) {
      if (value.trim()) args.push(option + "=" + value.trim());
    }
    try {
      const { lines, cut, errors, status } = await this.reader.ask("records", { args: [...args, this.path] });
      if (turn !== this.turn) return;
      // What cannot be read at all is tried again when it is asked for again.
      this.is_loaded = lines > 0 || (status !== 2 && status !== 1);
      this.told.className = status === 2 || status === 1 ? "bad" : "dim";
      this.told.textContent = errors && !lines ? errors : `${grouped(lines)} records${cut ? ": these are the first ones; a range of time selects others" : ""}`;
      this.all = lines;
      this.begin(lines);
      if (this.text.value) await this.filter();
    } catch (error) {
      if (turn !== this.turn) return;
      this.told.textContent = error.message;
      this.onError(error);
    } finally {
      if (turn === this.turn) this.loading = null;
    }
  }

  async filter() {
    // Those that are being read are filtered then.
    if (!this.is_loaded) return;
    const { turn } = this;
    try {
      const { lines, stale } = await this.reader.ask("filter", { text: this.text.value });
      if (stale || turn !== this.turn) return;
      this.told.textContent = this.text.value ? `${grouped(lines)} of ${grouped(this.all)} records` : `${grouped(lines)} records`;
      this.begin(lines);
    } catch (error) {
      if (turn === this.turn) this.onError(error);
    }
  }

  begin(count) {
    this.count = count;
    this.height = Math.min(HEIGHT_MAX, count * LINE);
    this.sizer.style.height = `${this.height}px`;
    this.list.scrollTop = 0;
    return this.fill();
  }

  // The first line that is seen. Of very many lines, a pixel of the scroll bar is several.
  firstLine() {
    const most = this.height - this.list.clientHeight, seen = Math.floor(this.list.clientHeight / LINE);
    if (most <= 0) return 0;
    return Math.round((this.list.scrollTop / most) * Math.max(0, this.count - seen));
  }

  async fill() {
    if (!this.count) return this.list.replaceChildren(this.sizer);
    const first = this.firstLine(), seen = Math.ceil(this.list.clientHeight / LINE) + 1;
    const wanted = (this.wanted = {});
    const lines = await this.reader.ask("cells", { from: first, to: first + seen }).catch(() => []);
    if (wanted !== this.wanted) return;
    this.first = first;
    const top = this.list.scrollTop;
    this.list.replaceChildren(this.sizer, ...lines.map(({ number, time, name, rest }, place) => {
      const line = el("div", { class: "line", role: "option", "aria-selected": String(this.selected === number), onclick: () => this.select(number, first + place) },
        el("span", { class: "number" }, grouped(number + 1)),
        el("span", {}, time),
        el("span", {}, name),
        el("span", { class: "rest" }, ...rest.flatMap(([key, value]) => [`${key}=`, el("b", {}, value), "  "])));
      line.style.top = `${top + place * LINE}px`;
      return line;
    }));
  }

  async select(number, place) {
    this.selected = number;
    this.place = place;
    this.fill();
    const { turn } = this;
    const found = await this.reader.ask("record", { number }).catch(() => null);
    if (!found || turn !== this.turn || this.selected !== number) return;
    const { record, cut } = found;
    refill(this.side,
        el("h2", {}, String(record.name ?? record.kind ?? "Record")),
      record.offset === undefined ? null : el("p", {}, el("button", { onclick: () => this.onBytes(record) }, "Its bytes")),
      cut ? el("p", { class: "warn" }, "It is too long to be shown in full.") : null,
      facts(Object.entries(record).slice(0, FIELDS_MAX)));
  }

  async key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || !this.count) return;
    event.preventDefault();
    const place = Math.min(this.count - 1, Math.max(0, (this.place ?? -1) + by));
    const { turn } = this;
    const [line] = await this.reader.ask("cells", { from: place, to: place + 1 }).catch(() => []);
    if (!line || turn !== this.turn) return;
    const seen = Math.floor(this.list.clientHeight / LINE);
    if (place < this.first || place >= this.first + seen) {
      const most = this.height - this.list.clientHeight;
      this.list.scrollTop = (Math.max(0, place - seen / 2) / Math.max(1, this.count - seen)) * most;
    }
    this.select(line.number, place);
  }
}
