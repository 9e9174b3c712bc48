// Gives globals, and changes them.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
const count = new WebAssembly.Global({ value: 'i64', mutable: true }, 2n ** 62n);
let exports;
const env = { base: 17, scale: new WebAssembly.Global({ value: 'f64' }, 0.1), count, tick() { exports.own.value += 1.25; } };
({ exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env }));
console.log(exports.run());
count.value = -5n;
console.log(exports.run(), count.value, exports.table.get(17)());
