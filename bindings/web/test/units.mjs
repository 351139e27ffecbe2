// What of the page needs no browser.
//
//     node units.mjs

import assert from "node:assert/strict";
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

console.log("the page's functions do what they say");
