// What of the page needs no browser.
//
//     node units.mjs

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { Columns } from "../page/columns.js";
import { roots, unpackedPath } from "../page/files.js";
import { isOffset } from "../page/overview.js";
import { blur, moment, timeOption } from "../page/parts.js";
import { ticks } from "../page/timeline.js";

// The ruler has a tick every 110 pixels or more, wherever it is.
assert.deepEqual(ticks(0, 1000, 1100), { step: 100, times: [0, 100, 200, 300, 400, 500, 600, 700, 800, 900] });
assert.deepEqual(ticks(-150, 150, 330), { step: 100, times: [-100, 0, 100] });
for (const from of [0, 1e9, 1.8e16, 1.6e18, -1.6e18, 1e300]) {
  for (const length of [1e-9, 10, 32, 5e4, 1e9, 1e18]) {
    const { step, times } = ticks(from, from + length, 1000);
    assert(times.length <= 11 && step > 0, `${times.length} ticks from ${from}, in ${length}`);
    assert(times.every((time, at) => at === 0 || time > times[at - 1]));
  }
}

// Times are what the command prints.
assert.equal(moment("-3500000000", false, 0), "-3.500000000 s");
assert.equal(moment("0", false, -1), "-0.000000001 s");
assert.equal(moment("-1", false, 1), "0.000000000 s");
assert.equal(moment("-20000000000000000", false, 1500000001), "-19999998.499999999 s");
assert.equal(moment("1795225314000000000", true, 1), "2026-11-21T01:41:54.000000001Z");
assert.equal(moment("-1500000000", true, 0), "1969-12-31T23:59:58.500000000Z");
assert.equal(moment("253402300800000000000", true, 0), "253402300800.000000000 s");

// A range begins at the time that is meant: a date, or what comes after the first record.
assert.equal(timeOption({ origin: "1795225314000000000", absolute: true }, 1), "2026-11-21T01:41:54.000000001Z");
assert.equal(timeOption({ origin: "100", absolute: false }, 5), null);
assert.equal(timeOption({ origin: "100", absolute: false }, 5, "3"), "+0.000000102s");
assert.equal(timeOption({ origin: "9007199254740995", absolute: false }, 2 ** 52 + 1, "0"), "+13510798.882111492s");
assert.equal(timeOption({ origin: "100", absolute: false }, -99, "3"), "");
assert.equal(timeOption({ origin: "253402300800000000000", absolute: true }, 7, "253402300800000000000"), "+0.000000007s");
assert.deepEqual([0, 5, -5, 2 ** 53 - 1].map(blur), [0, 0, 0, 0]);
assert.equal(blur(-(2 ** 60)), 256);

// Only a place in a file is a link to its bytes.
assert(isOffset("offset", 0) && isOffset("index_offset", 2 ** 40));
for (const [name, value] of [["gain_offset", 5], ["offset", 1e-6], ["offset", -1], ["offset", 2 ** 53], ["offset", "5"], ["length", 5]]) assert(!isOffset(name, value), `${name} ${value}`);

// Slices of a row that overlap are drawn and found wherever they last.
const meta = { first: 0, last: 100, rows: [{ track: 0, depth: 0, len: 4 }], marks: [], counters: [] };
const columns = new Columns({ meta, slice_begin: Float64Array.of(0, 0, 10, 60), slice_end: Float64Array.of(90, 50, 20, 70) });
const [row] = columns.rows;
assert.deepEqual(row.long, [0, 1]);
assert.deepEqual([5, 15, 30, 55, 65, 80, 95].map((time) => columns.sliceAt(row, time, 0)), [1, 2, 1, 0, 3, 0, -1]);
for (const [time, wanted] of [[30, 1], [55, 0], [80, 0]]) {
  const drawn = [];
  columns.visit(row, time - 1, time + 1, 1000, (slice) => drawn.push(slice), () => {});
  assert.equal(drawn.at(-1), wanted, `at ${time}`);
}

// Cells of CSV. The worker is no module: what it has is asked for by name.
const worker = vm.createContext({ TextEncoder, TextDecoder });
const { cell, exact } = vm.runInContext(readFileSync(new URL("../page/worker.js", import.meta.url), "utf8") + "\n;({ cell, exact });", worker);
assert.equal(cell("=1+1"), "'=1+1");
assert.equal(cell('a "b", c'), '"a ""b"", c"');
assert.equal(cell(-5), "-5");
assert.equal(cell(null), "");
// Browsers that tell how a number was written keep all digits, as numbers.
if (JSON.rawJSON) {
  const record = exact('{"a":-9223372036854775808,"b":{"c":[18446744073709551615,1]},"d":"-9223372036854775808"}');
  assert.deepEqual(["a", "b", "d"].map((key) => cell(record[key])), ["-9223372036854775808", '"{""c"":[18446744073709551615,1]}"', "'-9223372036854775808"]);
}

// A trace may be in any folder, or be any file.
const rootsOf = (...paths) => roots(paths.map((path) => ({ path })));
assert.deepEqual(rootsOf("a.rtc"), ["a.rtc"]);
assert.deepEqual(rootsOf("b/stream", "b/metadata"), ["b", "b/metadata", "b/stream"]);
assert.deepEqual(rootsOf("x/two/m", "x/one/s/m", "y/m"), ["x", "x/one", "x/one/s", "x/two", "y", "x/one/s/m", "x/two/m", "y/m"]);
assert.equal(unpackedPath("d/a.rtc.gz", new Set(["d/a.rtc.gz"])), "d/a.rtc");
assert.equal(unpackedPath("d/a.rtc.gz", new Set(["d/a.rtc.gz", "d/a.rtc"])), "d/a.rtc.gz");

// A list of findings that is cut ends where the last whole one does, in a folder as well.
worker.cutText = '{"path":"d","findings":[{"path":"s","offset":1,"message":"},{\\"path"},{"path":"s","offset":2,"message":"},{\\"';
const list = vm.runInContext("runText = () => ({ text: cutText, errors: '', cut: true }); findings([])", worker);
assert.equal(JSON.stringify(list.json.findings), JSON.stringify([{ path: "s", offset: 1, message: '},{"path' }]));

console.log("the page's functions do what they say");
