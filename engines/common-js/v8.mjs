// Which compiler V8 uses and how it checks bounds: set from the request, then
// proved on a tiny module in this very process. What is not proved is "unknown".
//
// The flags are V8's own. Node sets them while it runs, which is enough where it is done
// before the first WebAssembly.Module; Deno's V8 ignores that and needs them at its start.

import v8 from 'node:v8';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';

import { Failure } from './events.mjs';
import { TINY } from './proof.mjs';

// `--no-wasm-lazy-compilation` puts all compiling into the compile phase.
// Neither `--no-wasm-tier-up` nor `--no-wasm-dynamic-tiering` alone keeps V8 from tiering
// up, and `--liftoff-only` implies them only when it is given before V8 has started.
// V8 14 inlines by what Liftoff has seen, and ends the process where nothing was seen.
const WITHOUT_FEEDBACK = Number.parseInt(process.versions.v8) >= 14 ? ['--no-wasm-deopt'] : [];
const BACKENDS = {
  turbofan: ['--no-liftoff', '--no-wasm-lazy-compilation', '--no-wasm-dynamic-tiering', ...WITHOUT_FEEDBACK],
  liftoff: ['--liftoff-only', '--no-wasm-lazy-compilation', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
  tiering: [],
};

const STRATEGIES = { guard: [], trap: ['--wasm-enforce-bounds-checks'] };

// V8's message (a part of it) → the specification's.
export const TRAPS = [
  ['memory access out of bounds', 'out of bounds memory access'],
  ['data segment out of bounds', 'out of bounds memory access'],
  ['table access out of bounds', 'out of bounds table access'],
  ['element segment out of bounds', 'out of bounds table access'],
  ['table index is out of bounds', 'undefined element'],
  ['null function or function signature mismatch', 'indirect call type mismatch'],
  ['operation does not support unaligned accesses', 'unaligned atomic'],
  ['unreachable', 'unreachable'],
  ['divide by zero', 'integer divide by zero'],
  ['remainder by zero', 'integer divide by zero'],
  ['divide result unrepresentable', 'integer overflow'],
  ['float unrepresentable in integer range', 'invalid conversion to integer'],
];
export const STACK = /call stack/i;
// V8 names the switch of a feature that is off.
export const UNSUPPORTED = /experimental[-_]wasm|--enable/;

/** The backend a request means: its name, or what its optimisation level asks for. */
export function backendOf(request) {
  return request.backend ?? (request.opt === 'none' ? 'liftoff' : 'turbofan');
}

/** V8's flags for what the request asks of `engine`, whose default strategy is `usual`. */
export function flagsFor(engine, request, usual, strategies = Object.keys(STRATEGIES)) {
  const backend = backendOf(request);
  const strategy = request.strategy ?? usual;
  if (!Object.hasOwn(BACKENDS, backend)) {
    throw new Failure('unsupported', `${engine} has no backend "${backend}": use turbofan, liftoff or tiering`);
  }
  if (!strategies.includes(strategy)) {
    throw new Failure('unsupported', `${engine} has no strategy "${strategy}": use ${strategies.join(' or ')}`);
  }
  return [...BACKENDS[backend], ...STRATEGIES[strategy]];
}

/** A V8 native as a function, or null where this V8 does not know it. */
function native(name, parameter = '') {
  v8.setFlagsFromString('--allow-natives-syntax');
  try {
    return new Function(parameter, `return %${name}(${parameter})`);
  } catch {
    return null;
  } finally {
    v8.setFlagsFromString('--no-allow-natives-syntax');
  }
}

/** Which compiler made an exported function: "TurboFan", "Liftoff" or null. */
export function compilerOf(exported) {
  if (native('IsTurboFanFunction', 'f')?.(exported)) return 'TurboFan';
  if (native('IsLiftoffFunction', 'f')?.(exported)) return 'Liftoff';
  return null;
}

/** The tier that `backend` promises and how we know that it holds. */
function provedTier(backend, exported) {
  if (backend === 'tiering') {
    return ['tiering', "V8's default: Liftoff first, TurboFan for what runs often"];
  }
  const compiler = compilerOf(exported);
  if (compiler === null) return ['unknown', 'this V8 does not tell which compiler made a function'];
  const tier = compiler === 'TurboFan' ? 'optimising' : 'baseline';
  return [tier, `%Is${compiler}Function of a function compiled under these flags is true`];
}

/**
 * How bounds are checked: V8 counts the faults it turned into traps, so one
 * access outside a memory tells a guard page from an explicit comparison.
 */
function provedChecks(load) {
  const recovered = native('GetWasmRecoveredTrapCount');
  if (recovered === null) return ['unknown', 'this V8 does not count recovered faults'];
  const before = recovered();
  let trapped = false;
  try {
    load(0x20000);
  } catch (error) {
    trapped = error instanceof WebAssembly.RuntimeError;
  }
  if (!trapped) return ['none', 'an access outside a memory did not trap'];
  return recovered() > before
    ? ['guard pages', 'a load outside the memory was a fault that V8 turned into a trap']
    : ['explicit', 'a load outside the memory trapped without a fault'];
}

/**
 * The hello event: what is in force in this process, and how we know. `proof` is what is
 * known of the checks from elsewhere, for a V8 that handles no faults.
 */
export function helloOf(engine, version, request, proof) {
  const backend = backendOf(request);
  const { load } = new WebAssembly.Instance(new WebAssembly.Module(TINY)).exports;
  load(0);
  const [tier, tierEvidence] = provedTier(backend, load);
  const [checks, checksEvidence] = proof ?? provedChecks(load);
  return {
    event: 'hello',
    engine,
    version,
    backend,
    tier,
    checks,
    evidence: `V8 ${process.versions.v8}; ${tierEvidence}; ${checksEvidence}`,
  };
}

/** Fails where a function of the measured module was made by another compiler than asked for. */
export function requireTier(request, exported) {
  const wanted = { turbofan: 'TurboFan', liftoff: 'Liftoff' }[backendOf(request)];
  const found = compilerOf(exported);
  if (wanted !== undefined && found !== null && found !== wanted) {
    throw new Failure('internal', `the module was compiled by ${found}, not by ${wanted}`);
  }
}

/**
 * A full garbage collection, the only way V8 has to give an instance's memory back at once. Threads
 * have it; the main thread collects nothing, and the flag that it takes would be one of all threads.
 */
export function collector() {
  if (isMainThread) return null;
  v8.setFlagsFromString('--expose-gc');
  return vm.runInNewContext('gc');
}
