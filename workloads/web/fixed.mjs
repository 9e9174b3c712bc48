// What a program sees of its host, the same each time: clocks, chance, the environment, its own
// name. Each driver takes it before its application.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Uniform numbers of 32 bits, by Marsaglia's xorshift. */
export function numbers(seed = 2463534242) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Ends the driver unless this is so: a wrong program is not recorded. */
export function check(isSo, what) {
  if (!isSo) throw new Error(`not as it should be: ${what}`);
}

export const hash = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** A file of a package that is fetched. */
export const file = (name) => fs.readFileSync(`node_modules/${name}`);

/** A picture with edges, gradients and noise, four bytes a pixel. */
export function picture(width, height) {
  const next = numbers();
  const data = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < data.length; at += 4) {
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
    const inside = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2;
    data.set([(x * 255) / width, inside ? 220 : (y * 255) / height, (next() & 15) + (inside ? 0 : 96), 255], at);
  }
  return { data, width, height, colorSpace: 'srgb' };
}

const RealDate = Date;
const EPOCH_MS = RealDate.UTC(2026, 0, 1);
let asked = 0;
/** Each time that somebody asks it is a microsecond later. */
const sinceMs = () => (asked += 1) / 1000;

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    super(...(given.length ? given : [Date.now()]));
  }

  static now() {
    return EPOCH_MS + Math.floor(sinceMs());
  }
};
Object.defineProperty(globalThis, 'performance', { value: { now: sinceMs, timeOrigin: EPOCH_MS, mark() {}, measure() {} } });
process.hrtime = Object.assign(() => [0, Math.floor(sinceMs() * 1e6)], { bigint: () => BigInt(Math.floor(sinceMs() * 1e6)) });

const drawn = numbers(88172645);
Math.random = () => drawn() / 2 ** 32;
const fill = (array) => {
  const bytes = new Uint8Array(array.buffer ?? array, array.byteOffset ?? 0, array.byteLength);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = drawn();
  return array;
};
globalThis.crypto.getRandomValues = fill;
crypto.webcrypto.getRandomValues = fill;
crypto.randomFillSync = fill;
crypto.randomBytes = (size) => fill(Buffer.alloc(size));
syncBuiltinESMExports();

// When memory is collected is another each time: what is dropped stays.
globalThis.FinalizationRegistry = class FinalizationRegistry {
  register() {}

  unregister() {}
};
// Older glue takes it for a browser's, and there is nothing to fetch.
delete globalThis.fetch;
for (const name of Object.keys(process.env)) delete process.env[name];
process.env.LANG = 'C.UTF-8';
process.argv[0] = 'node';
process.argv[1] = '/app/driver.mjs';
