// The page: what is open, and which view of it is shown.

import { Bytes } from "./bytes.js";
import { Columns } from "./columns.js";
import { chosen, dropped, roots, unpackedPath } from "./files.js";
import { CELLS_SHOWN, Overview } from "./overview.js";
import { blur, byId, el, save, timeOption } from "./parts.js";
import { Reader, unpacked } from "./reader.js";
import { Records } from "./records.js";
import { fillMenu, openInPerfetto, savePicture } from "./take.js";
import { Timeline } from "./timeline.js";

// Larger ones do not fit into the memory of a page.
const BYTES_MAX = 2 ** 31;
// A folder of which no more files are tried one by one.
const TRIED_MAX = 200;

const TABS = [["overview", "Overview"], ["timeline", "Timeline"], ["records", "Records"], ["parts", "Parts"], ["bytes", "Bytes"]];

const status = (text, bad = false) => {
  byId("status").textContent = text;
  byId("status").className = bad ? "bad" : "";
};
const fail = (error) => status(error.message || String(error), true);

const reader = new Reader((progress) => {
  const isBusy = progress !== 1;
  byId("progress").hidden = byId("cancel").hidden = !isBusy;
  if (progress === null) byId("progress").removeAttribute("value");
  else byId("progress").value = progress;
}, (why) => records.forget(why));

const showBytes = (at, path) => {
  show("bytes");
  // A path in a trace is one below its folder.
  const full = path && open.files.some((file) => file.path === `${open.path}/${path}`) ? `${open.path}/${path}` : undefined;
  const inside = full ?? (open.files.some((file) => file.path === open.path) ? open.path : undefined);
  bytes.show(inside, Math.max(0, at));
};

// Tells times of a path's timeline as --from has them. Its first record may be another than that of the timeline.
function teller(path, meta) {
  let first;
  return async (since) => timeOption(meta, since) ?? timeOption(meta, since, (first ??= await reader.ask("first", { path })));
}

// The records from a time of the timeline on.
async function showRecords(since, tell) {
  records.from.value = await during(open.turn, tell(since - blur(since)));
  records.load();
  show("records");
}

// The fields of the record that stands at an offset, and has this time.
async function fieldsOf(path, since, offset, tell) {
  const range = [["--from=", await tell(since - blur(since))], ["--to=", await tell(since + blur(since) + 1)]];
  const options = range.filter(([, time]) => time).map((option) => option.join(""));
  return reader.ask("fields", { args: ["cat", "--json", ...options, path], offset });
}

const overview = new Overview({ onOffset: showBytes });
const records = new Records(reader, { onBytes: (record) => showBytes(record.offset, record.path), onError: fail });
const bytes = new Bytes(reader, { onError: fail });

// The view that a link asks for, until it is shown: what is shown meanwhile becomes the page's address.
let asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

// What is open: its files, its path, and what was read of it. Whatever is opened or chosen has a turn, which ends the one
// before it; files that are still gathered end when others are given.
const open = { files: [], path: "", timeline: null, tab: "overview", turn: 0, gathering: null, notes: [], times: {} };
// For tests, and for who looks with the browser's tools.
globalThis.traceglass = { open, reader, records };

// What a turn waits for. It goes no further, and nobody is told, if another one has begun meanwhile.
const OVER = new Error("something else is shown");
async function during(turn, wanted) {
  try {
    return await wanted;
  } finally {
    if (turn !== open.turn) throw OVER;
  }
}

// Does what a button asks for.
const trying = (act) => () => {
  const { turn } = open;
  act().catch((error) => turn === open.turn && fail(error));
};

// What stands where the timeline would.
const instead = (text) => el("section", {}, el("div", { class: "overview" }, el("p", { class: "dim" }, text)));

const views = {
  overview: () => overview.root,
  timeline: () => open.timeline?.root ?? (open.timelineRoot ??= instead("reading…")),
  records: () => records.root,
  parts: () => overview.partsRoot,
  bytes: () => bytes.root,
};

function show(tab) {
  open.tab = tab;
  byId("main").replaceChildren(views[tab]());
  for (const button of byId("tabs").children) button.setAttribute("aria-selected", String(button.id === `tab-${tab}`));
  if (tab === "records") records.show();
  if (tab === "bytes" && !bytes.is_loaded) bytes.show();
  if (tab === "timeline") open.timeline?.redraw();
  link();
}

// The view as a link: where one looks, and nothing of what is there.
let linking = 0;
function link() {
  clearTimeout(linking);
  linking = setTimeout(() => {
    if (!open.path) return;
    const state = new URLSearchParams({ tab: open.tab, ...open.timeline?.state() });
    history.replaceState(null, "", "#" + state);
  }, 250);
}

// Says why a turn came to nothing, wherever more was to be shown.
function failed(error) {
  if (error === OVER) return;
  open.times.failed = error.message;
  overview.stopped(error.message);
  open.timelineRoot = instead(error.message);
  if (open.tab === "timeline") show("timeline");
  fail(error);
}

// Opens files when they are gathered.
async function gather(gathering) {
  open.gathering = gathering;
  try {
    const { files, notes } = await gathering;
    if (gathering === open.gathering) await openFiles(files, notes);
  } catch (error) {
    if (gathering === open.gathering) fail(error);
  }
}

// Unpacks what is packed, but for what is read as it is: `info` says which.
async function unpack(files, turn) {
  const found = [], paths = new Set(files.map(({ path }) => path));
  for (const { path, file } of files) {
    const start = new Uint8Array(await during(turn, file.slice(0, 2).arrayBuffer()));
    if (start[0] !== 0x1f || start[1] !== 0x8b || /\.bin\.gz$/.test(path)) {
      found.push({ path, file });
      continue;
    }
    const { blob, error } = await during(turn, reader.ask("unpack", { file }));
    if (error) open.notes.push(`${path}: ${error}; what could be unpacked is shown`);
    found.push({ path: unpackedPath(path, paths), file: blob });
  }
  return found;
}

async function openFiles(given, notes = []) {
  if (!given.length) return;
  const files = given.length > 1 && given.some(({ path }) => !path.includes("/"))
    ? given.map(({ path, file }) => ({ path: `dropped/${path}`, file })) : given;
  const turn = ++open.turn;
  reader.end();
  reader.files = [];
  Object.assign(open, { files: [], path: "", timeline: null, timelineRoot: null, gathering: null, notes, started: performance.now(), times: {} });
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const [name] = roots(files);
  byId("trace-name").textContent = document.title = name;
  byId("trace-name").hidden = byId("tabs").hidden = false;
  byId("choice").hidden = byId("take").disabled = true;
  overview.waiting(name, total, files.length);
  records.reset("");
  bytes.reset([]);
  show("overview");
  if (total > BYTES_MAX) {
    return failed(new Error(`${total} bytes are more than this page can hold (2 GiB); cut a part out: traceglass cut --from +1s --to +2s`));
  }
  status("reading…");
  try {
    open.files = await during(turn, unpack(files, turn));
    await during(turn, reader.open(open.files));
    const tried = roots(open.files);
    let path = tried[0], found = await during(turn, info(path));
    // Files beside each other may be a trace each.
    const each = tried.slice(1, TRIED_MAX);
    if (found.json.verdict === "unreadable" && found.json.format == null) {
      for (const one of each) {
        const other = await during(turn, info(one));
        if (other.json.format == null) continue;
        [path, found] = [one, other];
        break;
      }
    }
    byId("choice").hidden = tried.length < 2;
    byId("trace-name").hidden = tried.length > 1;
    byId("choice").replaceChildren(...tried.slice(0, TRIED_MAX).map((one) => el("option", { value: one, selected: one === path }, one)));
    await look(path, turn, found);
  } catch (error) {
    failed(error);
  }
}

async function info(path) {
  return reader.ask("json", { args: ["info", "--json", path] });
}

// Shows a trace: what it is first, then whether it is whole, its parts, and its timeline.
async function look(path, turn, found) {
  Object.assign(open, { path, timeline: null, timelineRoot: null, info: null, check: null });
  byId("take").disabled = true;
  byId("trace-name").textContent = document.title = path;
  overview.waiting(path, open.files.reduce((sum, { file }) => sum + file.size, 0), open.files.length);
  records.reset(path);
  bytes.reset(open.files.map((file) => file.path), path);
  status("reading…");
  // What was chosen while there was nothing to show.
  show(open.tab);
  const { json, errors } = found ?? (await during(turn, info(path)));
  open.info = json;
  const human = await during(turn, reader.ask("text", { args: ["--width", "110", "info", path], max: 1 << 20 }));
  overview.info(json, human.text, [json.verdict === "unreadable" ? json.error ?? errors : "", ...open.notes].filter(Boolean).join("\n"));
  open.times.info = performance.now() - open.started;
  if (json.verdict === "unreadable") {
    open.times.failed = json.error ?? "this is no trace that is known";
    open.timelineRoot = instead(open.times.failed);
    if (open.tab === "timeline") show("timeline");
    status(open.times.failed, true);
    return;
  }
  byId("take").disabled = false;
  const timeline = await during(turn, reader.ask("timeline", { path }));
  if (timeline.errors) {
    open.timelineRoot = instead(timeline.errors);
  } else {
    const tell = teller(path, timeline.meta);
    open.timeline = new Timeline(new Columns(timeline), {
      // Of several files it is not known which one an offset is of.
      hasOneFile: open.files.length === 1, onOffset: showBytes, onChange: link,
      onRecords: (since) => trying(() => showRecords(since, tell))(),
      fieldsOf: (since, offset) => fieldsOf(path, since, offset, tell),
    });
    open.times.timeline = performance.now() - open.started;
  }
  if (open.tab === "timeline") show("timeline");
  if (Object.hasOwn(views, asked.tab)) {
    const wanted = asked;
    asked = {};
    show(wanted.tab);
    open.timeline?.restore(wanted);
  }
  const check = await during(turn, reader.ask("findings", { args: ["check", "--json", path] }));
  open.check = check.json;
  overview.check(check);
  overview.ls(await during(turn, reader.ask("table", { args: ["ls", "--json", path], max: CELLS_SHOWN })));
  open.times.all = performance.now() - open.started;
  status("");
}

const fileName = (end) => (open.path.split("/").pop() || "trace") + end;

async function exported(format, type, end) {
  const { path, turn } = open, name = fileName(end);
  status(`writing ${format}…`);
  const { blob, errors, status: code } = await reader.ask("blob", { args: ["export", "--format", format, path] });
  if (code === 1 || code === 2) throw new Error(errors);
  if (turn === open.turn) status(errors.trim());
  return { blob: new Blob([blob], { type }), name };
}

fillMenu([
  ["take-perfetto", "Open in ui.perfetto.dev", trying(async () => {
    const { blob, name } = await exported("perfetto", "application/octet-stream", ".pftrace");
    await openInPerfetto(await blob.arrayBuffer(), name);
  })],
  ["take-pftrace", "Save for Perfetto (.pftrace)", trying(async () => {
    const { blob, name } = await exported("perfetto", "application/octet-stream", ".pftrace");
    save(blob, name);
  })],
  ["take-chrome", "Save for speedscope (.json)", trying(async () => {
    const { blob, name } = await exported("chrome", "application/json", ".json");
    save(blob, name);
  })],
  ["take-csv", "Save the records (.csv)", trying(async () => {
    const { path } = open, name = fileName(".csv");
    await records.show();
    if (path !== open.path) return;
    if (!records.is_loaded) throw new Error(records.told.textContent);
    const { blob, lines } = await reader.ask("csv");
    if (!lines) throw new Error("there are no records to be saved");
    save(blob, name);
  })],
  ["take-png", "Save the timeline (.png)", trying(async () => {
    if (!open.timeline) throw new Error("it has no timeline");
    show("timeline");
    open.timeline.draw();
    await savePicture(open.timeline.canvas, fileName(".png"));
  })],
  ["take-link", "Copy a link to this view", trying(async () => {
    await navigator.clipboard.writeText(location.href);
    status("copied: the link holds the view, and nothing of the trace");
  })],
]);

byId("tabs").append(...TABS.map(([id, text]) => el("button", { role: "tab", id: `tab-${id}`, onclick: () => show(id) }, text)));
byId("open-file").onclick = () => byId("file").click();
byId("open-folder").onclick = () => byId("folder").click();
for (const id of ["file", "folder"]) {
  byId(id).onchange = () => {
    openFiles(chosen(byId(id).files));
    byId(id).value = "";
  };
}
byId("choice").onchange = () => {
  Object.assign(open, { started: performance.now(), times: {} });
  look(byId("choice").value, ++open.turn).catch(failed);
};
byId("cancel").onclick = () => {
  reader.end();
  status("cancelled");
};

// Light, dark, or as the system has it.
byId("theme").onclick = () => {
  const root = document.documentElement, isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme ?? (isDark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  open.timeline?.redraw();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => open.timeline?.redraw());

addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dragging");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dragging");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  gather(dropped(event.dataTransfer.items));
});
addEventListener("keydown", (event) => {
  if (event.key === "o" && event.target === document.body) byId("file").click();
});

// A trace that the page was written with.
const inside = [...document.querySelectorAll("script[data-path]")];
if (inside.length) {
  gather(Promise.all(inside.map(async (one) => ({ path: one.dataset.path, file: new Blob([await unpacked(one.textContent)]) })))
    .then((files) => ({ files })));
}
