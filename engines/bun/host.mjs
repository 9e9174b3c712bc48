// Bun as a host: JavaScriptCore, with our WASI. What a host is: ../common-js/main.mjs.
//
// JavaScriptCore reads its options, BUN_JSC_… in the environment, when it starts.

import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { Failure } from '../common-js/events.mjs';
import { clocksOf, pinTo } from '../common-js/linux.mjs';
import { runOn, startThreads } from '../common-js/node.mjs';
import { checksProved } from '../common-js/proof.mjs';
import { ensureStartedWith } from '../common-js/restart.mjs';
import { prepareOurs } from '../common-js/wasi_world.mjs';
import { addressOf, sys } from './sys.mjs';

export * from '../common-js/node.mjs';
export { readInput } from '../common-js/restart.mjs';
export const { now, processCpu, threadCpu } = clocksOf(sys);

export const ENGINE = 'bun';

// JavaScriptCore's message (a part of it) → the specification's.
export const TRAPS = [
  ['Out of bounds memory access', 'out of bounds memory access'],
  ['Unaligned memory access', 'unaligned atomic'],
  ['Out of bounds table access', 'out of bounds table access'],
  ['Out of bounds call_indirect', 'undefined element'],
  ['call_indirect to a null table entry', 'uninitialized element'],
  ['call_indirect to a signature that does not match', 'indirect call type mismatch'],
  ['Unreachable code should not be executed', 'unreachable'],
  ['Division by zero', 'integer divide by zero'],
  ['Integer overflow', 'integer overflow'],
  ['Out of bounds Trunc operation', 'invalid conversion to integer'],
  ['Invalid data segment initialization', 'out of bounds memory access'],
  ['Offset + array length would exceed the size', 'out of bounds memory access'],
];
export const STACK = /call stack/i;
export const UNSUPPORTED = /not enabled|not supported|isn't supported/i;

// tiering  as users get it: the interpreter IPInt first, BBQ for what runs often, OMG
//          for what runs more often, compiled beside the program
// omg      the optimising compiler when a function is first entered
// bbq      the baseline compiler when a function is first entered
// ipint    the interpreter alone
const BACKENDS = {
  tiering: {},
  omg: {
    useWasmIPInt: 0, useConcurrentJIT: 0, thresholdForOMGOptimizeAfterWarmUp: 0, thresholdForOMGOptimizeSoon: 0,
  },
  bbq: { useWasmIPInt: 0, useOMGJIT: 0 },
  ipint: { useBBQJIT: 0, useOMGJIT: 0 },
};
// By default eight memories have guard pages and those after them are compared with.
const STRATEGIES = { guard: { maxNumWasmFastMemories: 1024 }, trap: { useWasmFastMemory: 0 } };
const ALWAYS = { useWasmMemory64: 1 };

const backendOf = (request) => request.backend ?? (request.opt === 'none' ? 'bbq' : 'tiering');

const variablesOf = (options) =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [`BUN_JSC_${name}`, String(value)]));

/** Starts again with JavaScriptCore's options for the request. */
export function configure(request) {
  const backend = backendOf(request);
  const strategy = request.strategy ?? 'guard';
  if (!Object.hasOwn(BACKENDS, backend)) {
    throw new Failure('unsupported', `bun has no backend "${backend}": use ${Object.keys(BACKENDS).join(', ')}`);
  }
  if (!Object.hasOwn(STRATEGIES, strategy)) {
    throw new Failure('unsupported', `bun has no strategy "${strategy}": use guard or trap`);
  }
  const variables = variablesOf({ ...ALWAYS, ...BACKENDS[backend], ...STRATEGIES[strategy] });
  ensureStartedWith(sys, addressOf, JSON.stringify(variables), [process.execPath, ...process.argv.slice(1)], variables);
}

/** The tier, by which compilers JavaScriptCore named in the proof's process. */
function provedTier(backend, printed) {
  if (backend === 'tiering') return ['tiering', "JavaScriptCore's default: IPInt, then BBQ, then OMG for what runs often"];
  const seen = (compiler) => new RegExp(`^Generated ${compiler} `, 'm').test(printed);
  if (seen('OMG')) return ['optimising', 'a function that was called often was compiled by OMG'];
  if (seen('BBQ')) return ['baseline', 'a function that was called often was compiled by BBQ and not by OMG'];
  if (backend === 'ipint') return ['interpreter', 'a function that was called often was compiled by neither BBQ nor OMG'];
  return ['unknown', 'no compiler was seen'];
}

/** The hello event: what is in force, and how we know. */
export function hello(request) {
  const backend = backendOf(request);
  const shown = spawnSync(process.execPath, [path.join(import.meta.dirname, 'proof.mjs')], {
    env: { ...process.env, ...variablesOf({ dumpBBQDisassembly: 1, dumpOMGDisassembly: 1 }) },
  });
  const printed = String(shown.stdout) + String(shown.stderr);
  const [tier, tierEvidence] = provedTier(backend, printed);
  const [checks, checksEvidence] = checksProved({ died: shown.signal, printed });
  return {
    event: 'hello',
    engine: ENGINE,
    version: process.versions.bun,
    backend,
    tier,
    checks,
    evidence: `WebKit ${process.versions.webkit.slice(0, 12)}; ${tierEvidence}; ${checksEvidence}`,
  };
}

/** JavaScriptCore does not tell which compiler made a function; its options were proved by `hello`. */
export function requireTier() {}

export const collect = () => Bun.gc(true);
export const prepare = (request, descriptors) => prepareOurs(sys, request, descriptors);
export const runThreads = async (module, request) =>
  runOn(await startThreads(request.threads, new URL('./worker.mjs', import.meta.url)), module, request);

/** Pins this thread. */
export function pin(cpu, thread) {
  const why = pinTo(sys, cpu);
  if (why !== null) throw new Failure('unsupported', `cannot pin thread ${thread} to CPU ${cpu}: ${why}`);
}
