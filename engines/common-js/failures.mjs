// What an engine throws, in the words of the protocol: a failure's kind, and for traps
// the official test suite's message, so that engines can be compared. The engine's own
// words come from its host module:
//
//   TRAPS         pairs: a part of the engine's message, the specification's message
//   STACK         what it says when the stack is exhausted
//   UNSUPPORTED   what it says of a feature that is off or that it does not have

import { Failure } from './events.mjs';

/** The trap's message in the specification's words, or null where `error` is no trap. */
export function trapMessage(host, error) {
  if (!(error instanceof Error)) return null;
  if (host.STACK.test(error.message)) return 'call stack exhausted';
  if (!(error instanceof WebAssembly.RuntimeError)) return null;
  const known = host.TRAPS.find(([theirs]) => error.message.includes(theirs));
  return known ? known[1] : error.message;
}

/** Why a module did not compile. */
export function compileFailure(host, error) {
  return new Failure(host.UNSUPPORTED.test(error.message) ? 'unsupported' : 'invalid', error.message);
}

/** Why an instance could not be made: an import that is missing, or a trap on the way. */
export function instantiateFailure(host, error) {
  if (error instanceof Failure) return error;
  const trap = trapMessage(host, error);
  if (trap !== null) return new Failure('trap', trap);
  const isLink = error instanceof WebAssembly.LinkError || error instanceof TypeError;
  return new Failure(isLink ? 'link' : 'internal', error.message);
}

/** Why a run ended without an exit code. */
export function runFailure(host, error) {
  if (error instanceof Failure) return error;
  const trap = trapMessage(host, error);
  return trap === null ? new Failure('internal', error.message) : new Failure('trap', trap);
}
