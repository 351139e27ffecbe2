// Bytes with the fields that they belong to: what `hex` prints.

import { el } from "./parts.js";

const SHOWN = 512;

export class Bytes {
  constructor(reader, { onError }) {
    Object.assign(this, { reader, onError });
    this.file = el("select", { "aria-label": "File", onchange: () => this.show(this.file.value, 0) });
    this.at = el("input", { type: "text", class: "short", "aria-label": "Offset", value: "0x0" });
    this.at.addEventListener("keydown", (event) => { if (event.key === "Enter") this.go(); });
    this.text = el("pre", { class: "hex", tabIndex: 0, "aria-label": "Bytes" });
    this.root = el("section", {},
      el("div", { class: "bar" }, this.file, this.at, el("button", { onclick: () => this.go() }, "Go"),
        el("button", { onclick: () => this.page(-1) }, "Back"), el("button", { onclick: () => this.page(1) }, "On")),
      this.text);
  }

  reset(paths, shown) {
    this.file.replaceChildren(...paths.map((path) => el("option", { value: path, selected: path === shown }, path)));
    this.is_loaded = false;
    this.wanted = null;
    this.text.textContent = "";
  }

  offset() {
    const at = Number(this.at.value.trim());
    return Number.isSafeInteger(at) && at >= 0 ? at : 0;
  }

  go() { return this.show(this.file.value, this.offset()); }

  page(by) { return this.show(this.file.value, Math.max(0, this.offset() + by * SHOWN)); }

  async show(path = this.file.value, at = 0, len = SHOWN) {
    if (!path) return;
    const wanted = (this.wanted = {});
    this.is_loaded = true;
    this.file.value = path;
    this.at.value = "0x" + at.toString(16);
    try {
      const { text, errors } = await this.reader.ask("text", { args: ["--width", "140", "hex", "--at", String(at), "--len", String(len), path] });
      if (wanted === this.wanted) this.text.textContent = text || errors;
    } catch (error) {
      if (wanted !== this.wanted) return;
      this.is_loaded = false;
      this.onError(error);
    }
  }
}
