// blake3-wasm: a published vector, then 24 MiB.
import { check } from './fixed.mjs';
import blake3 from 'blake3-wasm';

await blake3.load();
const bytes = (length) => Uint8Array.from({ length }, (_, at) => at % 251);
// Of the published test vectors.
const known = 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085';
check(blake3.hash(bytes(102400)).toString('hex') === known, 'the vector of 102,400 bytes');
const [block, hasher] = [bytes(1 << 20), blake3.createHash()];
for (let round = 0; round < 24; round += 1) hasher.update(block);
console.log(hasher.digest('hex'));
