// hash-wasm's SHA-256 of 64 MiB, beside OpenSSL's.
import crypto from 'node:crypto';
import { check } from './fixed.mjs';
import { createSHA256 } from 'hash-wasm';

const block = Uint8Array.from({ length: 1 << 20 }, (_, at) => (at * 31) % 256);
const [hasher, other] = [await createSHA256(), crypto.createHash('sha256')];
for (let round = 0; round < 64; round += 1) [hasher, other].forEach((one) => one.update(block));
const digest = hasher.digest('hex');
check(digest === other.digest('hex'), 'the digest is that of OpenSSL');
console.log(digest);
