// What jco has of wasm-tools, for ../components.py:
//   make.mjs JCO parse TEXT OUT              a binary of a text
//   make.mjs JCO new MODULE ADAPTER OUT      a component of a core module of WASI preview 1

import fs from 'node:fs';
import path from 'node:path';

const [folder, what, from, ...others] = process.argv.slice(2);
const { $init, tools } = await import(path.join(folder, 'node_modules/@bytecodealliance/jco-transpile/vendor/wasm-tools.js'));
await $init;
const made = what === 'parse'
  ? tools.parse(fs.readFileSync(from, 'utf8'))
  : tools.componentNew(fs.readFileSync(from), [['wasi_snapshot_preview1', fs.readFileSync(others[0])]]);
fs.writeFileSync(others.at(-1), made);
