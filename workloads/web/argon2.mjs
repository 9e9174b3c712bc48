// hash-wasm's Argon2id, by a vector of the reference implementation.
import { check } from './fixed.mjs';
import { argon2id } from 'hash-wasm';

const hash = await argon2id({ password: 'password', salt: 'somesalt', parallelism: 1, iterations: 2, memorySize: 65536, hashLength: 32 });
// Of the reference implementation's own tests.
check(hash === '09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7', hash);
console.log(hash);
