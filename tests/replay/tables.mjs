// Puts functions and things into tables.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
const table = new WebAssembly.Table({ element: 'anyfunc', initial: 2, maximum: 10 });
const env = { table, pick: (func) => func, label: (thing) => (thing === undefined ? null : { of: thing }) };
const module = new WebAssembly.Module(bytes);
const { exports } = new WebAssembly.Instance(module, { env });
console.log(exports.apply(0, 21), table.get(0)(4), table.get(0) === exports.double);
table.set(1, exports.square);
console.log(exports.apply(1, 5), table.grow(2), exports.size());
exports.put(2, exports.double);
console.log(exports.apply(2, 8), table.get(3));
// A function of JavaScript's, as Emscripten's addFunction makes one.
const bridge = new WebAssembly.Module(new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 2, 7, 1, 1, 0x65, 1, 0x66, 0, 0, 7, 5, 1, 1, 0x66, 0, 0,
]));
const own = new WebAssembly.Instance(bridge, { e: { f: (x) => x + 1000 } });
table.set(3, own.exports.f);
console.log(exports.apply(3, 1), exports.apply(3, 2));
exports.things.set(0, 'thing');
console.log(exports.name(0).length, exports.things.grow(3, null), exports.name(2)[0], exports.size());
