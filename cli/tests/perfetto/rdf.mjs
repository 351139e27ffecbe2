// Holds an exported RDF file against how many events it is known to have: node rdf.mjs TRACE KIND=COUNT..., where KIND is
// the name of a slice, `values` for the samples of counters, `memory` for the most that is reserved, or `busy` for the
// nanoseconds of submissions.
import assert from 'node:assert/strict';
import { load } from './processor.mjs';

const expected = Object.fromEntries(
    process.argv.slice(3).map((pair) => pair.split('=')).map(([name, count]) => [name, Number(count)]),
);
assert(Object.keys(expected).length > 0, 'nothing is expected');
const query = await load(process.argv[2]);
const wrong = await query(
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
);
assert.deepEqual(wrong, [], 'stats has errors');
const number = async (sql) => Number(Object.values((await query(sql))[0])[0]);
const found = {};
for (const name of Object.keys(expected)) {
    found[name] = await number(
        name === 'values'
            ? 'select count(*) n from counter'
            : name === 'memory'
              ? "select coalesce(max(value), 0) n from counter join track on counter.track_id = track.id where track.name = 'virtual memory'"
            : name === 'busy'
              ? "select coalesce(sum(dur), 0) n from slice where name = 'CmdBufSubmit' and dur >= 0"
              : name === 'markers'
                ? `select count(*) n from slice join track on slice.track_id = track.id
                   where track.name like 'command buffer %' and slice.name not in ('marker_info', 'marker_end')`
                : `select count(*) n from slice where name = '${name}'`,
    );
}
assert.deepEqual(found, expected);
const [{ n, open }] = await query('select count(*) n, sum(dur < 0) open from slice');
console.log(`${n} slices and instants, ${Number(open)} open: ${process.argv.slice(3).join(' ')} by SQL`);
process.exit(0);
