// Calls back from each call, a thousand deep.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
let exports;
const down = (left) => {
  new Uint32Array(exports.memory.buffer)[4] += left;
  return exports.step(left);
};
({ exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { down } }));
console.log(exports.step(1000), exports.step(3));
