// Fills and grows the memory that it gives.
import fs from 'node:fs';

const memory = new WebAssembly.Memory({ initial: 1, maximum: 4 });
new Uint8Array(memory.buffer).set([9, 8, 7, 6, 5, 4, 3, 2, 1], 0);
const bytes = () => new Uint8Array(memory.buffer);
const fill = (at, end) => {
  for (let i = at; i < end; i += 3) bytes()[i] = i;
  return end - at;
};
const module = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const { exports } = new WebAssembly.Instance(module, { env: { memory, fill } });
console.log(exports.sum(0, 40), exports.sum(4090, 4200));
console.log(exports.grow(1).join(), memory.grow(1), exports.sum(131060, 131090), exports.grow(2).join(), exports.grow(1).join());
bytes()[200000] = 1;
console.log(exports.sum(200000, 200001), bytes()[65528]);
