// Gives one function under two imports.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
let calls = 0;
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { f: (x) => x + (calls += 1), g: (x) => x - 1 } });
console.log(exports.both(10), exports.again(7), exports.both(3));
