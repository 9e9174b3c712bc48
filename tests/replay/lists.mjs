// Writes where the words say that are at what was passed, as calls of files do.
import fs from 'node:fs';

let exports;
let turn = 0;
const read = (list) => {
  const memory = exports.memory.buffer;
  const words = new Uint32Array(memory, list, 4);
  turn += 1;
  for (let at = 0; at < 4; at += 2) new Uint8Array(memory).fill(turn, words[at], words[at] + words[at + 1]);
  return turn;
};
({ exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), { env: { read } }));
exports.mark(5200000);
const said = [];
for (let at = 100000; at < 4000000; at += 300000) said.push(exports.fill(at, 100000));
new Uint8Array(exports.memory.buffer).fill(9, 3950000, 3950100);
said.push(exports.take(3950000));
exports.again();
console.log(...said);
