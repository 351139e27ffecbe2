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
  constructor(tell, onEnd) {
    Object.assign(this, { tell, onEnd });
    // How often it was ended: what was begun before that is not gone on with.
    this.run = 0;
    this.asked = new Map();
    this.next = 1;
    this.files = [];
    this.worker = null;
  }

  // Questions are answered one after the other: the worker starts anew after it was ended.
  async begin() {
    this.module ??= packed("module", "traceglass.wasm").then((bytes) => WebAssembly.compile(bytes));
    const { run } = this, module = await this.module;
    this.refuse(run);
    const inline = byId("worker");
    const url = inline
      ? URL.createObjectURL(new Blob([inline.textContent], { type: "text/javascript" }))
      : "worker.js";
    const worker = (this.worker = new Worker(url));
    worker.onmessage = ({ data }) => worker === this.worker && this.answer(data);
    worker.onerror = (event) => worker === this.worker && this.end(event.message || "the worker cannot be started");
    await this.post("load", { module });
    this.refuse(run);
    if (this.files.length) await this.post("open", { files: this.files });
  }

  refuse(run) {
    if (run !== this.run) throw new Error(WHY_ENDED);
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
    const { run } = this;
    await (this.begun ??= this.begin());
    this.refuse(run);
    return this.post(op, question);
  }

  // Takes files, instead of those that it has.
  async open(files) {
    const { run } = this;
    this.files = [];
    await (this.begun ??= this.begin());
    this.refuse(run);
    this.files = files;
    return this.post("open", { files });
  }

  // Ends what is being done; what comes next begins with the same files.
  end(why = WHY_ENDED) {
    this.run++;
    this.worker?.terminate();
    this.worker = null;
    this.begun = null;
    for (const { reject } of this.asked.values()) reject(new Error(why));
    this.asked.clear();
    this.tell(1);
    this.onEnd(why);
  }
}
