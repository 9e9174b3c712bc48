// Node.js as a host: V8 with Node's own WASI. What a host is: ../common-js/main.mjs.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import { WASI } from 'node:wasi';

import { Failure } from '../common-js/events.mjs';
import { prepareWith, runThreads as startThreads } from '../common-js/node.mjs';
import { collector, flagsFor, helloOf } from '../common-js/v8.mjs';

export * from '../common-js/node.mjs';
export { STACK, TRAPS, UNSUPPORTED, requireTier } from '../common-js/v8.mjs';

export const ENGINE = 'node';

/** Sets V8's flags for the request. Must come before any module is compiled. */
export function configure(request) {
  for (const flag of flagsFor(ENGINE, request, 'guard')) v8.setFlagsFromString(flag);
  if (request.module !== undefined && isRefused(request.module)) v8.setFlagsFromString(STACK_SWITCHING);
}

// Only for modules that are nothing without it: others are measured as V8 is by default.
const STACK_SWITCHING = '--experimental-wasm-wasmfx';

function isRefused(file) {
  try {
    return !WebAssembly.validate(fs.readFileSync(file));
  } catch {
    return false; // what cannot be read is told where it is loaded
  }
}

export const hello = (request) => helloOf(ENGINE, process.versions.node, request);
export const prepare = (request, descriptors) => prepareWith(WASI, request, descriptors);
export const collect = collector();
export const runThreads = (module, request) =>
  startThreads(module, request, new URL('./worker.mjs', import.meta.url));

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
