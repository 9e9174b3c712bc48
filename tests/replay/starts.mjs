// Answers before it has the instance.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { early: (x) => x * 11 } });
console.log(exports.get());
exports._initialize();
exports._start();
console.log(exports.get());
