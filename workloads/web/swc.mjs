// @swc/wasm: TypeScript to minified ES2015.
import { check, hash } from './fixed.mjs';
import swc from '@swc/wasm';

const source = Array.from({ length: 150 }, (_, i) => `
export class Account${i}<T extends { id: number }> {
  private readonly entries: Map<number, T> = new Map();
  static readonly LIMIT: number = ${i * 100};
  async add(...items: T[]): Promise<number | undefined> {
    for (const { id, ...rest } of items) this.entries.set(id, { id, ...rest } as T);
    return this.entries.size > Account${i}.LIMIT ? undefined : await Promise.resolve(this.entries?.size ?? ${i});
  }
  get total(): number { return [...this.entries.keys()].reduce((sum, id) => sum + id ** 2, 0); }
}
`).join('');
const { code } = swc.transformSync(source, {
  filename: 'accounts.ts',
  minify: true,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2015', minify: { compress: true, mangle: true } },
});
check(code.includes('Account149') && !code.includes('Promise<'), 'no types');
console.log(code.length, hash(code));
