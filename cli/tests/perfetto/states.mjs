// Holds the slices of an exported CTF trace against what is expected of them: node states.mjs TRACE EXPECTED, as the
// vectors have it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { load } from './processor.mjs';

// By name: how many slices there are; of those that begin and end in the trace, how many, and how long they are in all.
const expected = {};
const empty = () => ({ slices: 0, known: 0, ns: 0n });
for (const line of readFileSync(process.argv[3], 'utf8').split('\n')) {
    // Times are wider than a number of JavaScript.
    const of = line && JSON.parse(line.replace(/"(begin|end)": ?(\d+)/g, '"$1":"$2"'));
    if (of.k !== 'slice') continue;
    const name = (expected[of.name] ??= empty());
    name.slices += 1;
    if (of.begin !== null && of.end !== null) {
        name.known += 1;
        name.ns += BigInt(of.end) - BigInt(of.begin);
    }
}
const query = await load(process.argv[2]);
const wrong = await query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
);
assert.deepEqual(wrong, [], 'stats has errors');
// Events that no rule took are instants, on tracks of their own.
const names = await query('select distinct track_id, name from slice');
const others = new Set(names.filter(({ name }) => !(name in expected)).map(({ track_id }) => track_id));
// What had begun before says so in its flags; what is open has a length of -1.
const rows = await query(`
    select name, count(*) slices, sum(known) known, sum(iif(known, dur, 0)) ns from (
        select name, dur, dur >= 0 and arg_set_id not in (
            select arg_set_id from args
            where key = 'debug.flags' and (string_value like '%open_start%' or string_value like '%begin_lost%')
        ) or dur >= 0 and arg_set_id is null known
        from slice where track_id not in (${[...others].join()})
    ) group by name`);
const found = {};
for (const { name, slices, known, ns } of rows) {
    found[name] = { slices: Number(slices), known: Number(known), ns: BigInt(ns) };
}
assert.deepEqual(found, expected);
const [{ n }] = await query(`select count(*) n from slice where dur <> 0 and track_id in (${[...others].join()})`);
assert.equal(Number(n), 0, 'events last');
const sum = (of) => Object.values(expected).reduce((total, name) => total + of(name), of(empty()));
console.log(`${sum((name) => name.slices)} slices, ${sum((name) => name.ns)} ns in all: the same by SQL`);
process.exit(0);
