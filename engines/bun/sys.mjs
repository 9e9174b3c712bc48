// Linux's system calls from Bun, through the library that the recipe compiles.

import { dlopen, ptr } from 'bun:ffi';
import path from 'node:path';

const library = path.join(path.dirname(process.execPath), 'syscall.so');
const { symbols } = dlopen(library, { fathom_syscall: { args: Array(7).fill('i64_fast'), returns: 'i64_fast' } });

export const addressOf = (bytes) => ptr(bytes);

// An empty array has no address; no call looks at it.
const plain = (value) => (typeof value !== 'object' ? value : value.byteLength === 0 ? 0 : ptr(value));

/** A system call: numbers, and typed arrays for the address of their bytes. */
export function sys(number, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0) {
  return Number(symbols.fathom_syscall(number, plain(a), plain(b), plain(c), plain(d), plain(e), plain(f)));
}
