// Holds an exported recording against its records: node rfr.mjs TRACE < records, as `cat --json --merge` prints them.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { load } from './processor.mjs';

const expected = { polls: 0, open: 0, polled: 0, flows: 0, kinds: {} };
// What is being polled since when, and how many flows wait for a poll, by the task's id.
const polls = new Map();
const waiting = new Map();
const wait = (task) => waiting.set(task, (waiting.get(task) ?? 0) + 1);
// Ids are wider than a number of JavaScript.
const exact = (line) => line.replace(/"(iid|task_iid|context)":(\d+)/g, '"$1":"$2"');
for await (const line of createInterface({ input: process.stdin })) {
    const record = JSON.parse(exact(line));
    expected.kinds[record.kind] = (expected.kinds[record.kind] ?? 0) + 1;
    const iid = record.iid ?? record.task_iid;
    switch (record.kind) {
        case 'TaskPollStart':
            expected.flows += waiting.get(iid) ?? 0;
            waiting.delete(iid);
            polls.set(iid, record.micros);
            expected.polls += 1;
            break;
        case 'TaskPollEnd':
            if (polls.has(iid)) expected.polled += (record.micros - polls.get(iid)) * 1000;
            polls.delete(iid);
            break;
        case 'NewTask':
        case 'WakerWake':
        case 'WakerWakeByRef':
            wait(iid);
            break;
    }
}
expected.open = polls.size;
assert(Object.keys(expected.kinds).length > 0, 'no records');

const query = await load(process.argv[2]);
const wrong = await query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
);
assert.deepEqual(wrong, [], 'stats has errors');
const [clock] = await query("select int_value id from metadata where name = 'trace_time_clock_id'");
assert.equal(Number(clock.id), 1, 'the clock is not REALTIME');

const number = async (sql) => Number(Object.values((await query(sql))[0])[0]);
const found = {
    polls: await number("select count(*) n from slice where name = 'poll'"),
    open: await number("select count(*) n from slice where name = 'poll' and dur < 0"),
    polled: await number("select coalesce(sum(dur), 0) n from slice where name = 'poll' and dur >= 0"),
    flows: await number('select count(*) n from flow'),
    kinds: {},
};
for (const { name, n } of await query('select name, count(*) n from slice where name != "poll" group by name')) {
    found.kinds[name] = Number(n);
}
for (const kind of ['TaskPollStart', 'TaskPollEnd']) delete expected.kinds[kind];
assert.deepEqual(found, expected);
// Each task has a track of its own, and all hang on that of the recording.
const orphans = await number('select count(*) n from track where parent_id is null');
assert.equal(orphans, 1, 'tracks without a parent');
console.log(
    `${found.polls} polls, ${found.polled} ns, ${found.flows} flows, ` +
        `${Object.values(found.kinds).reduce((a, b) => a + b, 0)} instants: the same by SQL`,
);
process.exit(0);
