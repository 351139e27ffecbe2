// Each sample in the page: the same numbers as the command's; panned, zoomed, searched, selected, taken away.
//
//     node samples.mjs PAGE.html TRACEGLASS [few]

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Command, PAUSE_MAX, launch, load, open, wide } from "./browser.mjs";

const [file, binary, few] = process.argv.slice(2);
const data = resolve(dirname(new URL(import.meta.url).pathname), "../../../examples/data");
const names = ["sample.rfr", "sample.rtc", "sample.ctf", "sample.rdf", "trace.0.bin", "sample.rgp", "sample.ctf1", "sample.ctf2", "stream.rfr"];

const command = new Command(resolve(binary), data);
const browser = await launch();
let checked = 0;

for (const name of few ? names.slice(0, 5) : names) {
  const page = await load(browser, resolve(file));
  const path = join(data, name);
  await open(page, path, statSync(path).isDirectory());

  // What it is, and whether it is whole.
  const found = await page.evaluate(() => ({ info: globalThis.traceglass.open.info, check: globalThis.traceglass.open.check }));
  assert.deepEqual(found.info, command.json("info", "--json", name), `${name}: info`);
  assert.deepEqual(found.check, command.json("check", "--json", name), `${name}: check`);
  const facts = await page.locator("#main dl.facts dd").allTextContents();
  const text = command.run("--width", "110", "info", name).stdout.toString().replaceAll(/\s+/g, " ");
  for (const fact of facts) {
    for (const line of fact.split("\n")) assert(text.includes(line.trim().replaceAll(/\s+/g, " ")), `${name}: ${line}`);
  }
  assert(facts.length > 0, `${name}: nothing is said of it`);

  // The timeline has the slices of the command.
  const slices = command.lines("cat", "--slices", "--json", name).map((line) => JSON.parse(line))
    .filter((slice) => slice.time_ns !== null || slice.end_time_ns !== null);
  const timeline = await page.evaluate(() => {
    const { timeline } = globalThis.traceglass.open;
    if (!timeline) return null;
    const { columns } = timeline, { meta } = columns;
    return Array.from({ length: columns.slices }, (_, at) => {
      const about = timeline.about({ slice: at });
      return { name: about.name, track: about.label, depth: about.depth, args: about.args, lasts: about.end - about.begin,
        open: about.flags.includes("edge_unknown"), at: BigInt(Math.round(about.begin)) + BigInt(meta.origin) + "" };
    });
  });
  if (timeline) {
    const key = (slice) => [slice.track, slice.name, slice.depth].join("|");
    assert.deepEqual(timeline.map(key).sort(), slices.map(key).sort(), `${name}: slices`);
    const whole = (slice) => [slice.track, slice.name, slice.depth, slice.duration_ns ?? slice.lasts].join("|");
    assert.deepEqual(timeline.filter((one) => !one.open).map(whole).sort(), slices.filter((one) => one.duration_ns !== null).map(whole).sort(), `${name}: durations`);
    await look(page, name, slices);
  }

  // The records are the command's.
  await page.click("#tab-records");
  const lines = command.lines("cat", "--json", name);
  await page.waitForFunction((count) => globalThis.traceglass.records.count === count, lines.length, { timeout: 30_000 }).catch(() => {});
  assert.equal(await page.evaluate(() => globalThis.traceglass.records.count), lines.length, `${name}: records`);
  if (lines.length) {
    const some = await page.evaluate(() => globalThis.traceglass.reader.ask("lines", { from: 0, to: 1e9 }));
    assert.deepEqual(some.map((line) => line.text), lines, `${name}: records`);
    await page.locator(".rows .line").first().click();
    await page.waitForSelector(".side dl.facts dt");
    const side = await page.locator(".side dl.facts dt").allTextContents();
    assert.deepEqual(side, Object.keys(JSON.parse(lines[0])), `${name}: fields of a record`);
    const word = "1";
    await page.fill('[aria-label="Filter by text"]', word);
    const wanted = lines.filter((line) => line.toLowerCase().includes(word)).length;
    await page.waitForFunction((count) => globalThis.traceglass.records.count === count, wanted, { timeout: 30_000 });
  }

  // What is taken away is what the command writes.
  const perfetto = command.run("export", "--format", "perfetto", name);
  if (perfetto.status === 0 || perfetto.status === 3) {
    await page.click("#take");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#take-pftrace")]);
    assert.deepEqual(readFileSync(await download.path()), perfetto.stdout, `${name}: Perfetto`);
    assert.equal(download.suggestedFilename(), `${basename(name)}.pftrace`);
  }
  if (lines.length) {
    await page.click("#take");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#take-csv")]);
    const csv = readFileSync(await download.path(), "utf8").trimEnd().split("\r\n");
    assert(csv.length > 1 && csv[0].split(",").length > 1, `${name}: CSV`);
  }

  // Bytes with their fields.
  await page.click("#tab-bytes");
  await page.waitForFunction(() => document.querySelector("pre.hex")?.textContent.includes("00000000"));
  const { complaints, requests } = page;
  assert.deepEqual(complaints, [], `${name}: the console`);
  assert.deepEqual(requests.filter((url) => !url.startsWith("file:") && !url.startsWith("blob:")), [], `${name}: something was asked of a network`);
  const pauses = await page.evaluate(() => globalThis.pauses.filter((pause) => pause > 0));
  if (Math.max(0, ...pauses) > PAUSE_MAX) console.log(`${name}: pauses of ${pauses.map(Math.round)} ms`);
  await page.context().close();
  checked++;
  console.log(`${name}: ${slices.length} slices, ${lines.length} records`);
}

// Pans, zooms, searches and selects.
async function look(page, name, slices) {
  await page.click("#tab-timeline");
  const canvas = page.locator("canvas");
  const view = () => page.evaluate(() => { const { from, to } = globalThis.traceglass.open.timeline; return [from, to]; });
  const box = await canvas.boundingBox();
  const before = await view();
  await page.mouse.move(box.x + 700, box.y + 80);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction((length) => { const { from, to } = globalThis.traceglass.open.timeline; return to - from < length; }, (before[1] - before[0]) * 0.9);
  const zoomed = await view();
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  const panned = await view();
  assert(panned[0] > zoomed[0], `${name}: panned`);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 80, { steps: 4 });
  await page.mouse.up();
  assert((await view())[0] > panned[0], `${name}: dragged`);
  await page.keyboard.press("0");
  await canvas.focus();
  await page.keyboard.press(".");
  if (slices.length) {
    const side = await page.locator(".side h2").first().textContent();
    assert(slices.some((slice) => slice.name === side), `${name}: selected ${side}`);
    const said = await page.locator('[aria-live="polite"]').allTextContents();
    assert(said.some((text) => text.includes(side)), `${name}: said ${said}`);
    await page.fill('[aria-label="Search names"]', slices[0].name);
    const count = Number((await page.locator(".bar .dim").first().textContent()).replace(/\D/g, ""));
    assert(count >= slices.filter((slice) => slice.name === slices[0].name).length, `${name}: found ${count}`);
    await page.press('[aria-label="Search names"]', "Enter");
    assert((await page.locator(".side h2").first().textContent()).includes(slices[0].name), `${name}: found`);
  }
  await canvas.focus();
  await page.keyboard.press("m");
  assert(await page.evaluate(() => globalThis.traceglass.open.timeline.range[1] >= globalThis.traceglass.open.timeline.range[0]));
  await page.waitForFunction(() => location.hash.includes("tab=timeline"));
}

await browser.close();
assert(checked > 0);
console.log(`${checked} samples`);
