// Writes far from everything; with a second argument, where nobody can expect it.
import fs from 'node:fs';

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])));
for (let i = 0; i < 10; i += 1) exports.put(i);
const bytes = new Uint8Array(exports.memory.buffer);
bytes.fill(7, 60000, 500000);
console.log(exports.get(499999), exports.get(9));
if (process.argv[3] === 'far') bytes[3000000] = 5;
console.log(exports.far());
