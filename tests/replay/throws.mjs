// Throws through the module, and goes on.
import fs from 'node:fs';

const bytes = fs.readFileSync(process.argv[2]);
let exports;
const env = {
  fail(code) { if (code > 1) throw new Error(`code ${code}`); },
  call(code) { try { return exports.risky(code); } catch { return -code; } },
};
({ exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env }));
console.log(exports.outer(0), exports.outer(5), exports.outer(1));
try { exports.risky(9); } catch (error) { console.log(error.message, exports.outer(1)); }
env.fail = null;
try { exports.risky(3); } catch (error) { console.log(error.message); }
