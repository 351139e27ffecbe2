// The worker, and what it is asked.

import { byId } from "./parts.js";

const WHY_ENDED = "cancelled";

// What the page was built with: in one file, or as files of their own.
async function packed(id, url) {
  const inline = byId(id);
  if (!inline) return new Uint8Array(await (await fetch(url)).arrayBuffer());
  return unpacked(inline.textContent);
}

// Bytes of base64 that were packed by gzip.
export async function unpacked(text) {
  const chars = atob(text.trim()), raw = new Uint8Array(chars.length);
  for (let at = 0; at < raw.length; at++) raw[at] = chars.charCodeAt(at);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Reader {
  constructor(tell) {
    this.tell = tell;
    this.asked = new Map();
    this.next = 1;
    this.files = [];
    this.worker = null;
  }

  // Questions are answered one after the other: the worker starts anew after it was ended.
  async begin() {
    this.module ??= packed("module", "traceglass.wasm").then((bytes) => WebAssembly.compile(bytes));
    const module = await this.module;
    const inline = byId("worker");
    const url = inline
      ? URL.createObjectURL(new Blob([inline.textContent], { type: "text/javascript" }))
      : "worker.js";
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data }) => this.answer(data);
    this.worker.onerror = (event) => this.end(event.message || "the worker cannot be started");
    await this.post("load", { module });
    if (this.files.length) await this.post("open", { files: this.files });
  }

  answer(data) {
    const asked = this.asked.get(data.id);
    if (!asked) return;
    if ("progress" in data) {
      this.tell(data.progress);
      return;
    }
    this.asked.delete(data.id);
    if (!this.asked.size) this.tell(1);
    if ("error" in data) {
      if (data.fatal) this.end(`reading stopped: ${data.error}`);
      asked.reject(new Error(data.error));
    } else {
      asked.resolve(data.done);
    }
  }

  post(op, question) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.asked.set(id, { resolve, reject });
      this.tell(null);
      this.worker.postMessage({ id, op, ...question });
    });
  }

  async ask(op, question = {}) {
    this.begun ??= this.begin();
    await this.begun;
    return this.post(op, question);
  }

  // Takes files, instead of those that it has.
  async open(files) {
    this.files = [];
    this.begun ??= this.begin();
    await this.begun;
    this.files = files;
    return this.post("open", { files });
  }

  // Ends what is being done; what comes next begins with the same files.
  end(why = WHY_ENDED) {
    this.worker?.terminate();
    this.worker = null;
    this.begun = null;
    for (const { reject } of this.asked.values()) reject(new Error(why));
    this.asked.clear();
    this.tell(1);
  }
}
