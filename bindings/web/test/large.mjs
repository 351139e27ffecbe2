// A trace of 64 MiB, of which half are slices: how long the first view takes and the whole timeline, and how fast it is drawn.
//
//     node large.mjs PAGE.html TRACEGLASS [MIB]

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command, launch, load, open } from "./browser.mjs";

const [file, binary, mib = "64"] = process.argv.slice(2);
const made = mkdtempSync(join(tmpdir(), "traceglass-page-"));
const folder = join(made, "large.ctf");
mkdirSync(folder);

const unsigned = (length, roles = []) => ({ type: "fixed-length-unsigned-integer", length, "byte-order": "little-endian", alignment: 8, roles });
const structure = (...members) => ({ type: "structure", "member-classes": members.map(([name, field]) => ({ name, "field-class": field })) });
const fragments = [
  { type: "preamble", version: 2 },
  { type: "clock-class", id: "ticks", name: "ticks", frequency: 1000000000 },
  { type: "data-stream-class", "default-clock-class-id": "ticks",
    "event-record-header-field-class": structure(["id", unsigned(8, ["event-record-class-id"])], ["time", unsigned(64, ["default-clock-timestamp"])]) },
  { type: "event-record-class", id: 0, name: "adc_begin", "payload-field-class": structure(["value", unsigned(32)]) },
  { type: "event-record-class", id: 1, name: "adc_end", "payload-field-class": structure(["value", unsigned(32)]) },
];
writeFileSync(join(folder, "metadata"), fragments.map((fragment) => `\x1e${JSON.stringify(fragment)}`).join("\n") + "\n");

const EVENT = 13, events = Math.floor((Number(mib) << 20) / EVENT / 2) * 2;
const bytes = Buffer.alloc(events * EVENT);
let time = 1_000_000_000, seed = 1;
for (let event = 0; event < events; event++) {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  time += 1 + (seed % 2000);
  bytes[event * EVENT] = event & 1;
  bytes.writeBigUInt64LE(BigInt(time), event * EVENT + 1);
  bytes.writeUInt32LE(event >> 1, event * EVENT + 9);
}
writeFileSync(join(folder, "stream"), bytes);

const browser = await launch();
const page = await load(browser, resolve(file));
const painted = page.evaluate(() => new Promise((done) => {
  const look = () => {
    const { open } = globalThis.traceglass;
    if (open.started && document.querySelector(".verdict")) return requestAnimationFrame(() => done(performance.now() - open.started));
    setTimeout(look, 5);
  };
  look();
}));
await open(page, folder, true);
const found = await page.evaluate(() => {
  const { open } = globalThis.traceglass;
  return { info: open.info, times: open.times, slices: open.timeline.columns.slices };
});
assert.equal(found.slices, events / 2);
assert.deepEqual(found.info, new Command(resolve(binary), made).json("info", "--json", "large.ctf"));

// Frames while it is panned, all of it in view and a part.
await page.click("#tab-timeline");
const frames = await page.evaluate(async () => {
  const { timeline } = globalThis.traceglass.open;
  const times = [];
  for (const factor of [1, 1e-2, 1e-4]) {
    timeline.all();
    timeline.zoom(factor);
    for (let frame = 0; frame < 30; frame++) {
      timeline.pan(0.01);
      timeline.draw();
      times.push(timeline.drawn.ms);
      await new Promise(requestAnimationFrame);
    }
  }
  return times.sort((a, b) => a - b);
});
// Fields that did not come with the timeline are read when they are asked for.
const last = events / 2 - 7;
await page.evaluate((slice) => globalThis.traceglass.open.timeline.select({ slice }), last);
const asked = Date.now();
await page.waitForFunction((value) => [...document.querySelectorAll("dd")].some((one) => one.textContent === value), String(last));
const fields = Date.now() - asked;
assert.deepEqual(page.complaints, []);
await browser.close();
rmSync(made, { recursive: true });
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
console.log(`${mib} MiB, ${events / 2} slices: first paint ${seconds(await painted)}, info ${seconds(found.times.info)}, ` +
  `timeline ${seconds(found.times.timeline)}, all ${seconds(found.times.all)}; a frame is drawn in ${frames[45].toFixed(1)} ms, at most ${frames.at(-1).toFixed(1)} ms, fields are read in ${seconds(fields)}`);
