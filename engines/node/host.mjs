// Node.js as a host: V8 with Node's own WASI. What a host is: ../common-js/main.mjs.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import { WASI } from 'node:wasi';

import { Failure } from '../common-js/events.mjs';
import { prepareWith, runOn, startThreads } from '../common-js/node.mjs';
import { collector, flagsFor, helloOf } from '../common-js/v8.mjs';
import * as components from './component.mjs';

export * from '../common-js/node.mjs';
export { STACK, TRAPS, UNSUPPORTED, requireTier } from '../common-js/v8.mjs';

export const ENGINE = 'node';

/** What was made of a component, where one was asked for. */
export let translation = null;

/** What runs the module, where it is measured. */
let threads = [];

/**
 * Sets V8's flags for the request. Must come before any module is compiled, and after threads
 * have started: what is built into Node is kept as code for V8's default flags, and a thread that
 * starts under others compiles all of it, which takes as long as starting.
 */
export async function configure(request) {
  const flags = flagsFor(ENGINE, request, 'guard');
  const bytes = request.module === undefined ? EMPTY : bytesOf(request.module);
  const isComponent = components.isComponent(bytes);
  if (isComponent) translation = await components.translate(bytes);
  if (request.mode === 'measure') {
    threads = await startThreads(request.threads, new URL('./worker.mjs', import.meta.url));
  }
  for (const flag of flags) v8.setFlagsFromString(flag);
  if (bytes !== EMPTY && !isComponent && !WebAssembly.validate(bytes)) v8.setFlagsFromString(STACK_SWITCHING);
}

// Only for modules that are nothing without it: others are measured as V8 is by default.
const STACK_SWITCHING = '--experimental-wasm-wasmfx';

const EMPTY = Buffer.alloc(0);

/** Of what cannot be read nothing: it is told where it is loaded. */
function bytesOf(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return EMPTY;
  }
}

export function hello(request) {
  const found = helloOf(ENGINE, process.versions.node, request);
  return translation === null ? found : { ...found, evidence: `${found.evidence}; components by ${translation.by}` };
}

export const compiled = (bytes) => (translation === null ? new WebAssembly.Module(bytes) : components.compiled(translation));
export const prepare = (request, descriptors, module) => (module instanceof WebAssembly.Module
  ? prepareWith(WASI, request, descriptors)
  : components.world(request, descriptors, module));
export const collect = collector();
export const runThreads = (module, request) => runOn(threads, module, request);

const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * Nanoseconds this thread has spent on a CPU, or null where the kernel does not say.
 * Node 20 has no per-thread CPU clock, but Linux shows one as the first number of
 * /proc/thread-self/schedstat (proc(5)). The kernel brings it up to date when the
 * thread leaves the CPU, so it sleeps for a moment first: outside of every timed window.
 */
export function threadCpu() {
  Atomics.wait(nap, 0, 0, 0.01);
  try {
    return BigInt(fs.readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
  } catch {
    return null;
  }
}

/** Pins this thread. Node cannot, but util-linux can, given the kernel's thread id. */
export function pin(cpu, thread) {
  const id = path.basename(fs.readlinkSync('/proc/thread-self'));
  const taskset = spawnSync('taskset', ['-cp', String(cpu), id]);
  if (taskset.status !== 0) {
    const why = taskset.error?.message ?? String(taskset.stderr).trim();
    throw new Failure('unsupported', `cannot pin thread ${thread} to CPU ${cpu}: ${why}`);
  }
}
