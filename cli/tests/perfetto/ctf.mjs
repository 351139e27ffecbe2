// Holds an exported CTF trace against what is expected of it: node ctf.mjs TRACE EXPECTED, as the vectors have it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { load } from './processor.mjs';

const expected = { names: {}, first: null, last: null };
for (const line of readFileSync(process.argv[3], 'utf8').split('\n')) {
    if (!line.includes('"e":')) continue;
    const { e, ts } = JSON.parse(line);
    const name = e[2] ?? `event ${e[0]}`;
    expected.names[name] = (expected.names[name] ?? 0) + 1;
    const ns = BigInt(ts[1]);
    if (expected.first === null || ns < expected.first) expected.first = ns;
    if (expected.last === null || ns > expected.last) expected.last = ns;
}
const query = await load(process.argv[2]);
const wrong = await query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
);
assert.deepEqual(wrong, [], 'stats has errors');
const found = { names: {}, first: null, last: null };
// What was discarded is an event of its own, and no record.
for (const row of await query("select name, count(*) n from slice where name not like 'discarded%' group by name")) {
    found.names[row.name] = Number(row.n);
}
const [range] = await query("select min(ts) first, max(ts) last from slice where name not like 'discarded%'");
[found.first, found.last] = [BigInt(range.first), BigInt(range.last)];
assert.deepEqual(found, expected);
const [{ n }] = await query("select count(*) n from args where key like 'debug%'");
const events = Object.values(found.names).reduce((a, b) => a + b, 0);
console.log(`${events} events of ${Object.keys(found.names).length} names, ${n} fields: the same by SQL`);
process.exit(0);
