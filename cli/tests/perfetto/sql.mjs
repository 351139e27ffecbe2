// Prints what the trace processor answers: node sql.mjs TRACE SQL...
import { load } from './processor.mjs';

const [trace, ...questions] = process.argv.slice(2);
const query = await load(trace);
for (const sql of questions) {
    for (const row of await query(sql)) console.log(Object.values(row).join('\t'));
}
process.exit(0);
