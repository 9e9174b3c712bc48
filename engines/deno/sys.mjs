// Linux's system calls from Deno, through the library that the recipe compiles.

import path from 'node:path';

const library = path.join(path.dirname(process.execPath), 'syscall.so');
const { symbols } = Deno.dlopen(library, { fathom_syscall: { parameters: Array(7).fill('i64'), result: 'i64' } });

export const addressOf = (bytes) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));

const plain = (value) => (typeof value === 'object' ? addressOf(value) : value);

/** A system call: numbers, and typed arrays for the address of their bytes. */
export function sys(number, a = 0, b = 0, c = 0, d = 0, e = 0, f = 0) {
  return Number(symbols.fathom_syscall(number, plain(a), plain(b), plain(c), plain(d), plain(e), plain(f)));
}
