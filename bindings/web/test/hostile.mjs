// Damaged and hostile files: the page says what the command says, does not stop answering, and lets nothing of a file act.
//
//     node hostile.mjs PAGE.html TRACEGLASS      files of TRACEGLASS_VECTORS, and samples that are broken here

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Command, PAUSE_MAX, launch, load, open } from "./browser.mjs";

const [file, binary] = process.argv.slice(2);
const data = resolve(dirname(new URL(import.meta.url).pathname), "../../../examples/data");
const made = mkdtempSync(join(tmpdir(), "traceglass-page-"));
const paths = [];

// Samples that are cut, and that have a byte changed.
for (const name of ["sample.rtc", "sample.rdf", "sample.rgp", "sample.ctf2", "stream.rfr", "trace.0.bin"]) {
  const bytes = readFileSync(join(data, name));
  for (const part of [0, 0.3, 0.7]) {
    writeFileSync(join(made, `${part}-${name}`), bytes.subarray(0, bytes.length * part));
    paths.push(join(made, `${part}-${name}`));
  }
  const changed = Buffer.from(bytes);
  changed[Math.floor(bytes.length * 0.6)] ^= 0x55;
  writeFileSync(join(made, `changed-${name}`), changed);
  paths.push(join(made, `changed-${name}`));
}
// A name that would be an element.
const named = join(made, "<img src=x onerror=alert(1)>.rtc");
writeFileSync(named, readFileSync(join(data, "sample.rtc")));
paths.push(named);

const vectors = process.env.TRACEGLASS_VECTORS;
if (vectors) {
  for (const folder of ["hostile", "floods"]) {
    for (const name of readdirSync(join(vectors, folder)).sort()) {
      if (!name.endsWith(".md")) paths.push(join(vectors, folder, name));
    }
  }
  const dumps = join(vectors, "rdf-contents/real");
  for (const name of readdirSync(dumps).filter((name) => /\.(rgd|rmv|rgp|rra)$/.test(name)).sort()) paths.push(join(dumps, name));
}

const browser = await launch();
let most = 0;
for (const path of paths) {
  // What the file makes the page do, it does again: the least of three pauses is not of other work on this machine.
  let pause = Infinity;
  for (let tried = 0; tried < 3 && pause > PAUSE_MAX; tried++) pause = Math.min(pause, await look(path));
  most = Math.max(most, pause);
  assert(pause <= PAUSE_MAX, `${basename(path)}: a pause of ${Math.round(pause)} ms`);
}

// Opens a file, looks at all of it, and returns the longest pause.
async function look(path) {
  const page = await load(browser, resolve(file));
  const isFolder = statSync(path).isDirectory();
  await open(page, path, isFolder);
  const command = new Command(resolve(binary), dirname(path)), name = basename(path);
  const found = await page.evaluate(() => ({ info: globalThis.traceglass.open.info, check: globalThis.traceglass.open.check, path: globalThis.traceglass.open.path }));
  if (found.path === name) {
    assert.deepEqual(found.info, command.json("info", "--json", name), `${name}: info`);
    if (found.check) {
      const check = command.json("check", "--json", name);
      check.findings.length = Math.min(1000, check.findings.length);
      assert.deepEqual(found.check, check, `${name}: check`);
    }
  }
  for (const tab of ["timeline", "records", "parts", "bytes", "overview"]) await page.click(`#tab-${tab}`);
  assert.deepEqual(page.complaints, [], `${name}: the console`);
  assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed").length), 0, name);
  const longest = Math.max(0, ...(await page.evaluate(() => globalThis.pauses)));
  await page.context().close();
  return longest;
}

// Links that anybody can have written: what they ask for and is not there is not shown.
const url = pathToFileURL(resolve(file)).href, trace = join(data, "stream.rfr");
for (const state of ["slice=0.5", "mark=1.5", "slice=", "mark=99999999", "range=7", "range=1e999_-1e300", "from=-1e308&to=1e308", "from=1e17&to=1.00000000000001e17", "from=NaN&to=5"]) {
  const page = await load(browser, `${url}#tab=timeline&${state}`);
  await open(page, trace, false);
  const { times, from, to, range } = await page.evaluate(() => {
    const { times, timeline } = globalThis.traceglass.open;
    timeline.draw();
    return { times, from: timeline.from, to: timeline.to, range: timeline.range };
  });
  assert.equal(times.failed, undefined, state);
  assert(Number.isFinite(from) && from < to && range === null, state);
  assert.deepEqual(page.complaints, [], state);
  await page.context().close();
}

// Of two clocks that count from different times, one is drawn; what the other one times is counted, and has no place.
if (vectors) {
  const path = join(vectors, "rtc/multi_8k.rtc"), name = basename(path);
  const page = await load(browser, resolve(file));
  await open(page, path, false);
  const records = new Command(resolve(binary), dirname(path)).lines("cat", "--json", name).map((line) => JSON.parse(line));
  const undated = records.filter((record) => record.time === null && record.time_ns !== null).length;
  assert(undated > 0 && undated < records.length);
  assert.equal(await page.evaluate(() => globalThis.traceglass.open.timeline.columns.meta.otherwise), undated);
  await page.context().close();
}

// What cannot be read after what can: nothing of the one before stays.
const page = await load(browser, resolve(file));
writeFileSync(join(made, "no.txt"), "no trace");
await open(page, [join(data, "sample.rtc"), join(made, "no.txt")], false);
await page.click("#tab-records");
await page.locator(".rows .line").first().click();
await page.waitForSelector(".side dl.facts dt");
await page.selectOption("#choice", "dropped/no.txt");
await page.waitForFunction(() => globalThis.traceglass.open.times.failed !== undefined);
assert.equal(await page.evaluate(() => globalThis.traceglass.open.timeline), null);
assert.equal(await page.locator(".rows .line, .side dl.facts dt").count(), 0);
assert(await page.locator("#take").isDisabled());
await page.selectOption("#choice", "dropped/sample.rtc");
await page.waitForFunction(() => globalThis.traceglass.open.times.all !== undefined);

// After the worker was ended, the records are read again.
await page.waitForFunction(() => globalThis.traceglass.records.is_loaded);
const { count, rest } = await page.evaluate(() => {
  const { reader, records } = globalThis.traceglass, { count } = records;
  reader.end();
  return { count, rest: [records.count, records.is_loaded] };
});
assert.deepEqual(rest, [0, false]);
await page.click("#tab-overview");
await page.click("#tab-records");
await page.waitForFunction((wanted) => globalThis.traceglass.records.count === wanted, count);
assert(count > 0);
await page.context().close();
await browser.close();
rmSync(made, { recursive: true });
assert(paths.length > 20);
console.log(`${paths.length} hostile files; the longest pause was ${Math.round(most)} ms`);
