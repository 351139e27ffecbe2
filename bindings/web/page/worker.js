// All reading is done here: the module, the files, and the records that the table shows.
"use strict";

const PIECE = 8 << 20;          // Bytes that are read from a file at a time.
const RECORDS_MAX = 256 << 20;  // Bytes of records that are kept.
const RECORD_MAX = 256 << 10;   // Characters of a record whose fields are all shown.
const FIRST_BYTES = 1 << 20;    // Bytes of records among which the first one with a time is looked for.
const TABLE_BYTES = 8 << 20;    // Bytes of the list of parts that are read.
const FINDINGS_BYTES = 64 << 20;
const FINDINGS_MAX = 1000;
const UNPACKED_MAX = 1 << 30;   // Bytes that a packed file may become.
const encoder = new TextEncoder();
const decoder = new TextDecoder();

// JSON in which integers keep all their digits: those that a float would round become text.
const parsed = (text) => JSON.parse(text, (_, value, context) =>
  isRounded(value, context) ? context.source : value);
const isRounded = (value, context) =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER && /^-?\d+$/.test(context?.source);
// The same for what is written as JSON again: they stay numbers.
const exact = (text) => JSON.parse(text, (_, value, context) =>
  isRounded(value, context) ? JSON.rawJSON?.(context.source) ?? context.source : value);

let wasm, take, told = 0, current = 0;
let columns = {};

const imports = {
  page: {
    write: (stream, at, len) => Number(take(stream, new Uint8Array(wasm.memory.buffer, at, len))),
    advance: (done, total) => {
      const now = performance.now();
      if (now - told > 50) {
        told = now;
        postMessage({ id: current, progress: total > 0 ? Math.min(1, done / total) : null });
      }
    },
    take: (at, nameLen, width, data, len) => {
      const memory = wasm.memory.buffer;
      const name = decoder.decode(new Uint8Array(memory, at, nameLen));
      const bytes = memory.slice(data, data + len);
      const kinds = { 1: Uint8Array, 4: Uint32Array, 8: Float64Array };
      columns[name] = new kinds[width](bytes);
    },
  },
};

function lend(bytes) {
  const at = wasm.tg_alloc(bytes.length) >>> 0;
  if (!at) throw new Error("there is not enough memory");
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  return [at, bytes.length];
}

// Reads a file piece by piece into the module's memory.
async function put(path, file, id, before, total) {
  const at = wasm.tg_alloc(file.size) >>> 0;
  if (!at) throw new Error(`${path}: ${file.size} bytes do not fit into this page's memory`);
  for (let start = 0; start < file.size; start += PIECE) {
    const piece = new Uint8Array(await file.slice(start, start + PIECE).arrayBuffer());
    new Uint8Array(wasm.memory.buffer, at + start, piece.length).set(piece);
    postMessage({ id, progress: (before + start + piece.length) / Math.max(1, total) });
  }
  wasm.tg_file(...lend(encoder.encode(path)), at, file.size);
}

// What a file packed by gzip has in it; what can be unpacked of one that is cut.
async function unpack(file) {
  const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const pieces = [];
  let size = 0, error = null;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > UNPACKED_MAX) throw new Error(`unpacked, it is larger than ${UNPACKED_MAX} bytes`);
      pieces.push(value);
    }
  } catch (failure) {
    error = String(failure.message || failure);
  }
  return { blob: new Blob(pieces), error };
}

// Runs a command line; `sink` takes pieces of what it prints, and returns false when it wants no more.
function run(args, sink) {
  const errors = [];
  take = (stream, bytes) => {
    if (stream === 2) {
      errors.push(decoder.decode(bytes));
      return true;
    }
    return sink(bytes);
  };
  const status = wasm.tg_run(...lend(encoder.encode(args.map((arg) => arg + "\0").join(""))));
  return { status, errors: errors.join("") };
}

function runText(args, max = Infinity) {
  const pieces = [];
  let size = 0;
  const done = run(args, (bytes) => {
    size += bytes.length;
    pieces.push(bytes.slice());
    return size < max;
  });
  const text = new TextDecoder();
  return { ...done, text: pieces.map((piece) => text.decode(piece, { stream: true })).join(""), cut: size >= max };
}

// The records: lines of JSON, one after the other, and where each begins.
const records = { bytes: new Uint8Array(0), starts: new Uint32Array(0), len: 0, lines: 0, shown: null };

function keepRecords(args) {
  // What is still filtered are others.
  question++;
  Object.assign(records, { bytes: new Uint8Array(1 << 16), starts: new Uint32Array(1 << 12), len: 0, lines: 0, shown: null });
  let cut = false;
  const done = run(args, (bytes) => {
    const len = records.len + bytes.length;
    cut = len > RECORDS_MAX;
    if (cut) return false;
    if (len > records.bytes.length) {
      const more = new Uint8Array(Math.min(RECORDS_MAX, Math.max(len, records.bytes.length * 2)));
      more.set(records.bytes.subarray(0, records.len));
      records.bytes = more;
    }
    records.bytes.set(bytes, records.len);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      if (records.lines + 1 >= records.starts.length) {
        const more = new Uint32Array(records.starts.length * 2);
        more.set(records.starts);
        records.starts = more;
      }
      records.starts[++records.lines] = records.len + at + 1;
    }
    records.len = len;
    return true;
  });
  return { ...done, lines: records.lines, cut };
}

const line = (number) => decoder.decode(records.bytes.subarray(records.starts[number], records.starts[number + 1] - 1));
const shownCount = () => (records.shown ? records.shown.length : records.lines);
const shownLine = (number) => (records.shown ? records.shown[number] : number);

// Goes through all records a little at a time, so that a newer question can end it.
let question = 0;
async function filter(text, id) {
  const mine = ++question;
  if (!text) {
    records.shown = null;
    return { lines: records.lines };
  }
  const wanted = text.toLowerCase();
  let found = new Uint32Array(1 << 12), count = 0;
  for (let number = 0; number < records.lines;) {
    const until = performance.now() + 30;
    while (number < records.lines && performance.now() < until) {
      const end = Math.min(records.lines, number + 256);
      for (; number < end; number++) {
        if (!line(number).toLowerCase().includes(wanted)) continue;
        if (count === found.length) {
          const more = new Uint32Array(count * 2);
          more.set(found);
          found = more;
        }
        found[count++] = number;
      }
    }
    postMessage({ id, progress: number / records.lines });
    await new Promise((next) => setTimeout(next));
    if (mine !== question) return { lines: shownCount(), stale: true };
  }
  records.shown = found.slice(0, count);
  return { lines: count };
}

// A cell of CSV (RFC 4180); what a spreadsheet would compute is kept text.
function cell(value) {
  if (value === undefined || value === null) return "";
  let text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const names = new Map(), count = shownCount();
  for (let number = 0; number < count; number++) {
    for (const key of Object.keys(JSON.parse(line(shownLine(number))))) if (!names.has(key)) names.set(key, names.size);
  }
  const keys = [...names.keys()], parts = [keys.map(cell).join(",") + "\r\n"];
  let part = [];
  for (let number = 0; number < count; number++) {
    const record = exact(line(shownLine(number)));
    part.push(keys.map((key) => cell(record[key])).join(","));
    if (part.length === 4096) parts.push(part.join("\r\n") + "\r\n"), (part = []);
  }
  if (part.length) parts.push(part.join("\r\n") + "\r\n");
  return { blob: new Blob(parts, { type: "text/csv" }), lines: count };
}

// What a row of the table shows of a record.
function cells(number) {
  const record = parsed(line(number)), rest = [];
  for (const [key, value] of Object.entries(record)) {
    if (OWN.has(key) || value === null) continue;
    rest.push([key, short(typeof value === "object" ? JSON.stringify(value) : String(value))]);
    if (rest.length === 24) break;
  }
  const { time, time_ns: ns } = record;
  return { number, time: time ?? (ns == null ? "" : `${ns} ns`), name: short(String(record.name ?? record.kind ?? record.stream ?? record.chunk ?? "")), rest };
}

const OWN = new Set(["time", "time_ns", "clock", "name", "kind", "path"]);
// What a record has besides its fields.
const FRAME = new Set([...OWN, "header", "data_stream", "packet", "offset", "bit", "len", "id", "namespace", "stream", "chunk", "entry", "index"]);
const short = (text) => (text.length > 200 ? text.slice(0, 200) + "…" : text);

// An object with a list in it that may be of any length: its beginning, and how long it is.
function findings(args) {
  let { text, errors, cut } = runText(args, FINDINGS_BYTES);
  // The last one may be a part; within a text, its quote would be escaped.
  if (cut) text = text.slice(0, text.lastIndexOf('},{"')) + '}],"verdict":"damaged"}';
  const json = parsed(text), count = json.findings.length;
  json.findings.length = Math.min(count, FINDINGS_MAX);
  return { json, count, cut, errors };
}

const work = {
  async load({ module }) {
    wasm = (await WebAssembly.instantiate(module, imports)).exports;
  },
  async open({ id, files }) {
    wasm.tg_clear();
    const total = files.reduce((sum, { file }) => sum + file.size, 0);
    let before = 0;
    for (const { path, file } of files) {
      await put(path, file, id, before, total);
      before += file.size;
    }
  },
  async unpack({ file }) {
    return unpack(file);
  },
  text: ({ args, max }) => runText(args, max),
  json({ args }) {
    const { text, errors } = runText(args);
    return { json: parsed(text), errors };
  },
  findings: ({ args }) => findings(args),
  table({ args, max }) {
    const { text, errors, cut } = runText(args, TABLE_BYTES), lines = text.split("\n");
    // The last one is empty, or cut.
    lines.pop();
    return { rows: lines.slice(0, max).map(parsed), count: lines.length, cut, errors };
  },
  records: ({ args }) => keepRecords(args),
  cells: ({ from, to }) => {
    const found = [];
    for (let number = from; number < Math.min(to, shownCount()); number++) found.push(cells(shownLine(number)));
    return found;
  },
  record: ({ number }) => {
    const text = line(number);
    return text.length > RECORD_MAX ? { record: cells(number), cut: true } : { record: parsed(text) };
  },
  // The time of the first record that has one, from which `+` counts, as text.
  first({ path }) {
    const lines = runText(["cat", "--json", path], FIRST_BYTES).text.split("\n").slice(0, -1);
    const time = lines.map((line) => parsed(line).time_ns).find((one) => one != null);
    if (time == null) throw new Error("none of the first records has a time from which others could be counted");
    return String(time);
  },
  fields: ({ args, offset }) => {
    const { text } = runText(args, FINDINGS_BYTES);
    const record = text.split("\n").filter((line) => line.includes(`"offset":${offset},`)).map(parsed).find((one) => one.offset === offset);
    const flat = ([key, value]) => (value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value).flatMap(flat) : [[key, value]]);
    return Object.entries(record ?? {}).filter(([key, value]) => !FRAME.has(key) && value !== null).flatMap(flat);
  },
  lines: ({ from, to }) => {
    const found = [];
    for (let number = from; number < Math.min(to, shownCount()); number++) {
      found.push({ number: shownLine(number), text: line(shownLine(number)) });
    }
    return found;
  },
  filter: ({ text, id }) => filter(text, id),
  csv,
  blob({ args }) {
    const parts = [];
    const done = run(args, (bytes) => parts.push(bytes.slice()) > 0);
    return { ...done, blob: new Blob(parts) };
  },
  timeline({ path }) {
    const errors = [];
    take = (_, bytes) => errors.push(decoder.decode(bytes));
    columns = {};
    const status = wasm.tg_timeline(...lend(encoder.encode(path)));
    const found = columns;
    columns = {};
    if (status) return { errors: errors.join("") };
    found.meta = JSON.parse(decoder.decode(found.meta));
    return found;
  },
};

onmessage = async ({ data }) => {
  current = data.id;
  try {
    const done = await work[data.op](data);
    const lent = Object.values(done || {}).filter((value) => ArrayBuffer.isView(value)).map((value) => value.buffer);
    postMessage({ id: data.id, done }, lent);
  } catch (failure) {
    const fatal = failure instanceof WebAssembly.RuntimeError || failure instanceof RangeError;
    postMessage({ id: data.id, error: String(failure.message || failure), fatal });
  }
};
