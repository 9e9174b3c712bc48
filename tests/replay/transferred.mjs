// Gives its module's bytes away as soon as they are being compiled.
import fs from 'node:fs';

const { buffer } = new Uint8Array(fs.readFileSync(process.argv[2]));
const env = { twice: (value) => 2 * value };
const compiling = WebAssembly.instantiate(buffer, { env });
structuredClone(buffer, { transfer: [buffer] });
const { instance } = await compiling;
console.log(instance.exports.main(3));
