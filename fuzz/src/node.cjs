// Runs modules that standard input names and says what they did, one line of JSON each: what
// `node.rs` compares. The first line is the module that computes numbers of states.
'use strict';
const fs = require('node:fs');
const readline = require('node:readline');

const views = new DataView(new ArrayBuffer(8));
let digest;

/// The bits of a number, which a NaN has none of: JavaScript does not keep them.
function bits(type, value) {
  switch (type) {
    case 'i32': return { bits: String(value >>> 0) };
    case 'i64': return { bits: String(BigInt.asUintN(64, value)) };
    case 'f32':
      if (Number.isNaN(value)) return { nan: type };
      views.setFloat32(0, value);
      return { bits: String(views.getUint32(0)) };
    case 'f64':
      if (Number.isNaN(value)) return { nan: type };
      views.setFloat64(0, value);
      return { bits: String(views.getBigUint64(0)) };
    default: return { null: value === null };
  }
}

function argument(type, number) {
  switch (type) {
    case 'i32': return Number(BigInt.asIntN(32, number));
    case 'i64': return BigInt.asIntN(64, number);
    case 'f32': return Math.fround(Number(number));
    case 'f64': return Number(number);
    default: return null;
  }
}

function takeBytes(buffer) {
  const bytes = new Uint8Array(buffer);
  const memory = new Uint8Array(digest.memory.buffer);
  memory.set(bytes);
  memory.fill(0, bytes.length, bytes.length + 8);
  digest.bytes(bytes.length);
}

function takeValue(shown) {
  if ('null' in shown) {
    digest.number(shown.null ? 3n : 2n);
    return;
  }
  digest.number(BigInt(shown.bits ?? 0));
  digest.number(0n);
}

/// The number of a state; nothing where a NaN is part of it.
function state(items) {
  let isKnown = true;
  digest.start();
  for (const { kind, type, item } of items) {
    if (kind === 'global') {
      const shown = bits(type, item.value);
      isKnown &&= !('nan' in shown);
      takeValue(shown);
    } else if (kind === 'memory') {
      takeBytes(item.buffer);
    } else if (kind === 'table') {
      const is64 = type === 'i64';
      for (let at = 0; at < Number(item.length); at += 1) {
        takeValue({ null: item.get(is64 ? BigInt(at) : at) === null });
      }
    }
  }
  return isKnown ? String(BigInt.asUintN(64, digest.end())) : null;
}

function call(item) {
  const args = item.params.map(([type, number]) => argument(type, BigInt(number)));
  try {
    const value = item.item(...args);
    const values = item.results.length > 1 ? value : [value];
    return { ok: item.results.map((type, at) => bits(type, values[at])) };
  } catch (error) {
    return { trap: `${error.name}: ${error.message}` };
  }
}

function observe({ file, exports }) {
  let instance;
  try {
    const module = new WebAssembly.Module(fs.readFileSync(file));
    instance = new WebAssembly.Instance(module, {});
  } catch (error) {
    return { failed: `${error.name}: ${error.message}` };
  }
  const items = exports.map((one) => ({ ...one, item: instance.exports[one.name] }));
  const [calls, after] = [[], []];
  for (const item of items.filter(({ kind }) => kind === 'func')) {
    const ended = call(item);
    if ('trap' in ended) after.push([item.name, state(items)]);
    calls.push([item.name, ended]);
  }
  const of = (kind) => items.filter((one) => one.kind === kind);
  const number = (buffer) => {
    digest.start();
    takeBytes(buffer);
    return String(BigInt.asUintN(64, digest.end()));
  };
  return {
    calls,
    after,
    globals: of('global').map(({ name, type, item }) => [name, bits(type, item.value)]),
    memories: of('memory').map(({ name, item }) => [name, item.buffer.byteLength, number(item.buffer)]),
    tables: of('table').map(({ name, item }) => [name, Number(item.length)]),
  };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  if (digest === undefined) {
    digest = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(line, 'hex'))).exports;
    return;
  }
  process.stdout.write(`${JSON.stringify(observe(JSON.parse(line)))}\n`);
});
