// Writes to a memory with 64-bit addresses.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
let exports;
const env = { put(at) { new DataView(exports.memory.buffer).setBigInt64(Number(at), at * 3n, true); } };
({ exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env }));
console.log(exports.get(8n), exports.get(70000n), exports.get(16n));
