// Holds an exported RTC file against its records: node rtc.mjs TRACE < records, as `cat --json` prints them.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { load } from './processor.mjs';

const SECOND = 1_000_000_000n;
// Times are exact, and wider than a number of JavaScript: rounded down to nanoseconds.
function nanoseconds(line) {
    const ns = /"time_ns":(-?\d+)/.exec(line);
    if (ns) return BigInt(ns[1]);
    const seconds = /"time":(-?)(\d+)(?:\.(\d+))?[,}]/.exec(line);
    if (!seconds) return null;
    const [, sign, whole, fraction = ''] = seconds;
    const value = BigInt(whole) * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
    return sign ? -value : value;
}

const expected = { names: {}, first: null, last: null };
let untimed = 0;
let unread = 0;
for await (const line of createInterface({ input: process.stdin })) {
    const ns = nanoseconds(line);
    const record = JSON.parse(line);
    // What has no time, or one that 63 bits do not hold, has no place in the trace.
    if (ns === null || ns < 0n || ns >= 1n << 63n) {
        untimed += 1;
        continue;
    }
    // What is not what its format says is told as a gap.
    if (record.value === null && record.value_hex !== undefined) {
        unread += 1;
        continue;
    }
    const name = record.stream ?? `stream ${record.id}`;
    expected.names[name] = (expected.names[name] ?? 0) + 1;
    if (expected.first === null || ns < expected.first) expected.first = ns;
    if (expected.last === null || ns > expected.last) expected.last = ns;
}
const query = await load(process.argv[2]);
const wrong = await query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
);
assert.deepEqual(wrong, [], 'stats has errors');
const found = { names: {}, first: null, last: null };
const events = `
    select ts, name from slice where name not like 'gap: %'
    union all
    select counter.ts, track.name from counter join counter_track track on counter.track_id = track.id`;
for (const { name, n } of await query(`select name, count(*) n from (${events}) group by name`)) {
    found.names[name] = Number(n);
}
const [range] = await query(`select min(ts) first, max(ts) last from (${events})`);
if (range.first !== null) [found.first, found.last] = [BigInt(range.first), BigInt(range.last)];
// One clock is that of the trace: what is on another kind of clock is left out, and said to be so.
if (process.argv[3] !== 'misfits') assert.deepEqual(found, expected);
const [{ n: counted }] = await query('select count(*) n from counter');
const total = Object.values(found.names).reduce((a, b) => a + b, 0);
console.log(`${total} events, ${counted} of them values: the same by SQL; ${untimed} without a time, ${unread} unread`);
process.exit(0);
