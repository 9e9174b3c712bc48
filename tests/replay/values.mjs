// Answers with values of every type.
import fs from 'node:fs';

const env = { all: (i, l, f, d) => [d * 2, f / 3, l * 7n, i + 0.9], none: () => 'ignored' };
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), { env }).then(({ instance: { exports } }) => {
  console.log(exports.all(-1, 2n ** 63n - 1n, 0.1, 1e300), exports.all('7', -5n, NaN, -0), exports.all(2 ** 33, 0n));
  console.log(exports.nan(0x7ff4000000000001n), exports.nan(-1n), exports.one());
});
