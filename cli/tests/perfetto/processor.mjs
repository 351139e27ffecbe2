// Google's trace processor, compiled to WebAssembly, in Node: the folder named by TRACE_PROCESSOR holds it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const folder = process.env.TRACE_PROCESSOR;
if (!folder) throw new Error('TRACE_PROCESSOR names no folder; run .ci/perfetto.sh');
const file = (name) => path.join(folder, name);

// The bundle is made for a web worker that fetches its parts: it is told that it is one, and given the parts.
const changes = [
    // Node's version may not have 64-bit memories, though it says so.
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.traceProcessorBinary,'],
    [
        'const wasmBridge = new wasm_bridge_1.WasmBridge();',
        'const wasmBridge = globalThis.traceProcessorBridge = new wasm_bridge_1.WasmBridge();',
    ],
];

function start() {
    const define = (name, value) =>
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    define('self', globalThis);
    define('location', { href: `${pathToFileURL(folder).href}/` });
    define('WorkerGlobalScope', class {});
    define('traceProcessorBinary', new Uint8Array(readFileSync(file('trace_processor.wasm'))));
    let bundle = readFileSync(file('engine_bundle.node.js'), 'utf8');
    for (const [from, to] of changes) {
        if (bundle.split(from).length !== 2) throw new Error(`the bundle is another one: no single ${from}`);
        bundle = bundle.replace(from, () => to);
    }
    vm.runInThisContext(bundle, { filename: 'engine_bundle.node.js' });
    const { port1, port2 } = new MessageChannel();
    globalThis.traceProcessorBridge.initialize(port1);
    return port2;
}

// What it says of each load is of no interest; what is wrong comes as an exception or in the table `stats`.
console.warn = console.info = console.debug = () => {};

const { EngineBase } = await import(pathToFileURL(file('engine.mjs')).href);

class Engine extends EngineBase {
    mode = 'WASM';
    id = 'traceglass';

    constructor(port) {
        super();
        this.port = port;
        port.onmessage = ({ data }) => data instanceof Uint8Array && this.onRpcResponseBytes(data);
    }

    rpcSendRequestBytes(data) {
        this.port.postMessage(data);
    }
}

// One trace a process: what is loaded stays.
export async function load(trace) {
    const engine = new Engine(start());
    // The module is compiled in the background and says nothing when it is done.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const bytes = new Uint8Array(readFileSync(trace));
    const piece = 32 << 20;
    for (let at = 0; at < bytes.length; at += piece) await engine.parse(bytes.subarray(at, at + piece));
    await engine.notifyEof();
    return async (sql) => {
        const result = await engine.query(sql);
        const columns = result.columns();
        const rows = [];
        for (const row = result.iter({}); row.valid(); row.next()) {
            rows.push(Object.fromEntries(columns.map((column) => [column, row.get(column)])));
        }
        return rows;
    };
}
