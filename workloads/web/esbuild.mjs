// esbuild-wasm as a command: TypeScript from standard input, minified.
import { check, hash } from './fixed.mjs';
import fs from 'node:fs';
import { createRequire } from 'node:module';

const source = Array.from({ length: 120 }, (_, i) => `
export class Account${i}<T extends { id: number }> {
  private readonly entries: Map<number, T> = new Map();
  async add(...items: T[]): Promise<number | undefined> {
    for (const { id, ...rest } of items) this.entries.set(id, { id, ...rest } as T);
    return await Promise.resolve(this.entries?.size ?? ${i});
  }
  get total(): number { return [...this.entries.keys()].reduce((sum, id) => sum + id ** 2, ${i}); }
}
`).join('');

// The program reads its input and writes its output; nothing else of the system is there.
const input = Buffer.from(source);
let [at, code] = [0, ''];
const real = { read: fs.read, write: fs.write };
fs.read = (fd, buffer, offset, length, position, done) => {
  if (fd !== 0) return real.read(fd, buffer, offset, length, position, done);
  const some = input.subarray(at, at + length);
  buffer.set(some, offset);
  at += some.length;
  return setImmediate(done, null, some.length, buffer);
};
fs.write = (fd, buffer, offset, length, position, done) => {
  if (fd !== 1) return real.write(fd, buffer, offset, length, position, done);
  code += Buffer.from(buffer.slice(offset, offset + length)).toString();
  return setImmediate(done, null, length, buffer);
};
process.cwd = () => '/';
process.argv.splice(2, Infinity, 'node_modules/esbuild-wasm/esbuild.wasm', '--minify', '--loader=ts', '--target=es2015');
process.exit = (status) => {
  check(status === 0 && code.includes('Account119') && !code.includes('Promise<'), 'minified, without types');
  console.log(code.length, hash(code));
};
createRequire(import.meta.url)('esbuild-wasm/wasm_exec_node.js');
