// Catches a trap, and goes on.
import fs from 'node:fs';

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])));
console.log(exports.div(6, 3));
try { exports.div(1, 0); } catch (error) { console.log(error.message); }
console.log(exports.div(9, 3));
