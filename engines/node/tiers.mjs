// Which compiler V8 uses and how it checks bounds: set from the request, then
// proved on a tiny module in this very process. What is not proved is "unknown".
//
// The flags are V8's own and are read when a module is compiled, so setting them
// before the first WebAssembly.Module is enough and no second process is needed.

import v8 from 'node:v8';

import { Failure } from './events.mjs';

// `--no-wasm-lazy-compilation` puts all compiling into the compile phase.
// Neither `--no-wasm-tier-up` nor `--no-wasm-dynamic-tiering` alone keeps V8 from tiering
// up, and `--liftoff-only` implies them only when it is given before V8 has started.
const BACKENDS = {
  turbofan: ['--no-liftoff', '--no-wasm-lazy-compilation', '--no-wasm-dynamic-tiering'],
  liftoff: ['--liftoff-only', '--no-wasm-lazy-compilation', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'],
  tiering: [],
};

const STRATEGIES = { guard: [], trap: ['--wasm-enforce-bounds-checks'] };

// (module (memory 1) (func (export "load") (param i32) (result i32)
//   local.get 0  i32.load))
const TINY = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  7, 8, 1, 4, 0x6c, 0x6f, 0x61, 0x64, 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
]);

/** The backend a request means: its name, or what its optimisation level asks for. */
export function backendOf(request) {
  return request.backend ?? (request.opt === 'none' ? 'liftoff' : 'turbofan');
}

/** Sets V8's flags for the request. Must come before any module is compiled. */
export function configure(request) {
  const backend = backendOf(request);
  const strategy = request.strategy ?? 'guard';
  if (!Object.hasOwn(BACKENDS, backend)) {
    throw new Failure('unsupported', `node has no backend "${backend}": use turbofan, liftoff or tiering`);
  }
  if (!Object.hasOwn(STRATEGIES, strategy)) {
    throw new Failure('unsupported', `node has no strategy "${strategy}": use guard or trap`);
  }
  for (const flag of [...BACKENDS[backend], ...STRATEGIES[strategy]]) v8.setFlagsFromString(flag);
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

/** The hello event: what is in force in this process, and how we know. */
export function hello(request) {
  const backend = backendOf(request);
  const { load } = new WebAssembly.Instance(new WebAssembly.Module(TINY)).exports;
  load(0);
  const [tier, tierEvidence] = provedTier(backend, load);
  const [checks, checksEvidence] = provedChecks(load);
  return {
    event: 'hello',
    engine: 'node',
    version: process.versions.node,
    backend,
    tier,
    checks,
    evidence: `V8 ${process.versions.v8}; ${tierEvidence}; ${checksEvidence}`,
  };
}

/** Fails where a function of the measured module was made by another compiler than asked for. */
export function requireCompiler(backend, exported) {
  const wanted = { turbofan: 'TurboFan', liftoff: 'Liftoff' }[backend];
  const found = compilerOf(exported);
  if (wanted !== undefined && found !== null && found !== wanted) {
    throw new Failure('internal', `the module was compiled by ${found}, not by ${wanted}`);
  }
}
