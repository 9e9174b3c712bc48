// What V8 throws, in the words of the protocol: a failure's kind, and for traps
// the official test suite's message, so that engines can be compared.

import { Failure } from './events.mjs';

// V8's message (a part of it) → the specification's.
const TRAPS = [
  ['memory access out of bounds', 'out of bounds memory access'],
  ['data segment out of bounds', 'out of bounds memory access'],
  ['table access out of bounds', 'out of bounds table access'],
  ['element segment out of bounds', 'out of bounds table access'],
  ['table index is out of bounds', 'undefined element'],
  ['null function or function signature mismatch', 'indirect call type mismatch'],
  ['unreachable', 'unreachable'],
  ['divide by zero', 'integer divide by zero'],
  ['remainder by zero', 'integer divide by zero'],
  ['divide result unrepresentable', 'integer overflow'],
  ['float unrepresentable in integer range', 'invalid conversion to integer'],
];

/** The trap's message in the specification's words, or null where `error` is no trap. */
export function trapMessage(error) {
  if (error instanceof RangeError && /call stack/i.test(error.message)) return 'call stack exhausted';
  if (!(error instanceof WebAssembly.RuntimeError)) return null;
  const known = TRAPS.find(([theirs]) => error.message.includes(theirs));
  return known ? known[1] : error.message;
}

/** Why a module did not compile. V8 names the switch of a feature that is off. */
export function compileFailure(error) {
  const kind = /experimental[-_]wasm|--enable/.test(error.message) ? 'unsupported' : 'invalid';
  return new Failure(kind, error.message);
}

/** Why an instance could not be made: an import that is missing, or a trap on the way. */
export function instantiateFailure(error) {
  const trap = trapMessage(error);
  if (trap !== null) return new Failure('trap', trap);
  if (error instanceof WebAssembly.LinkError || error instanceof TypeError) {
    return new Failure('link', error.message);
  }
  return new Failure('internal', error.message);
}

/** Why a run ended without an exit code. */
export function runFailure(error) {
  const trap = trapMessage(error);
  return trap === null ? new Failure('internal', error.message) : new Failure('trap', trap);
}
