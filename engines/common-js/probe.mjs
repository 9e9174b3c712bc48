// Probe mode: one instance, a list of calls in order, an answer or a trap for each.
//
// JavaScript does not tell an i32 from an f32 or f64 that happens to be whole, and
// quiets signalling NaNs, so the probe's exports take and give integers only.

import { Batch, Failure } from './events.mjs';
import { instantiateFailure, runFailure, trapMessage } from './failures.mjs';

/** "i32:5" or "i64:-1" → what JavaScript passes for it. */
function argument(host, text) {
  const [type, value] = text.split(':');
  if (type === 'i32') return Number(BigInt.asIntN(32, BigInt(value)));
  if (type === 'i64') return BigInt.asIntN(64, BigInt(value));
  throw new Failure('unsupported', `${host.ENGINE} cannot pass the argument ${text}`);
}

/** A call's value → the protocol's "i32:…" and "i64:…", signed. */
function results(host, value) {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => {
    if (typeof one === 'bigint') return `i64:${one}`;
    if (Number.isInteger(one)) return `i32:${one}`;
    throw new Failure('unsupported', `${host.ENGINE} cannot tell the type of the result ${one}`);
  });
}

/**
 * A fresh memory for each that `module` imports; a probe names it by its limits in pages.
 * A module does not tell whether they are 64-bit.
 */
function memoriesFor(module, isWide) {
  const imports = {};
  const pages = isWide ? BigInt : Number;
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    const limits = /^(\d+)-(\d+)$/.exec(name);
    if (kind !== 'memory' || limits === null) throw new Failure('link', `nothing to import as ${from} ${name}`);
    const [initial, maximum] = limits.slice(1).map(pages);
    const address = isWide ? 'i64' : 'i32';
    (imports[from] ??= {})[name] = new WebAssembly.Memory({ initial, maximum, address });
  }
  return imports;
}

function instantiate(host, module) {
  const make = (isWide) => new WebAssembly.Instance(module, memoriesFor(module, isWide)).exports;
  try {
    return make(false);
  } catch (error) {
    try {
      if (error instanceof WebAssembly.LinkError) return make(true);
    } catch {
      // The first reason is the one to tell.
    }
    throw instantiateFailure(host, error);
  }
}

/** Makes the calls of `request` on one instance of `module`. */
export function probe(host, module, request) {
  const exports = instantiate(host, module);
  const batch = new Batch(host);
  request.calls.forEach(({ export: name, args }, index) => {
    if (typeof exports[name] !== 'function') throw new Failure('link', `the module has no function ${name}`);
    const values = args.map((text) => argument(host, text));
    let outcome;
    try {
      outcome = exports[name](...values);
    } catch (error) {
      const trap = trapMessage(host, error);
      if (trap === null) throw runFailure(host, error);
      batch.add({ event: 'call', index, trap });
      return;
    }
    batch.add({ event: 'call', index, result: results(host, outcome) });
  });
  batch.flush();
}
