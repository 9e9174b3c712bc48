// Deno as a host: V8 with Deno's own WASI. What a host is: ../common-js/main.mjs.
//
// Deno's V8 takes flags when it starts and ignores later ones.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { WASI } from 'node:wasi';

import { Failure } from '../common-js/events.mjs';
import { clocksOf, pinTo } from '../common-js/linux.mjs';
import { prepareWith, runOn, startThreads, writeEvents as writeTo } from '../common-js/node.mjs';
import { checksProved } from '../common-js/proof.mjs';
import { ensureStartedWith } from '../common-js/restart.mjs';
import { flagsFor, helloOf } from '../common-js/v8.mjs';
import { addressOf, sys } from './sys.mjs';

export * from '../common-js/node.mjs';
export { readInput } from '../common-js/restart.mjs';
export { STACK, TRAPS, UNSUPPORTED, requireTier } from '../common-js/v8.mjs';
export const { now, processCpu, threadCpu } = clocksOf(sys);

export const ENGINE = 'deno';

const ALWAYS = ['--allow-natives-syntax', '--expose-gc'];
const RUN = ['run', '--quiet', '--no-config', '--no-lock', '--no-remote', '--no-code-cache', '--allow-all'];
const HERE = import.meta.dirname;

/** The command that runs a script of this folder under V8's `flags`. */
const command = (flags, script, ...more) =>
  [process.execPath, ...RUN, `--v8-flags=${flags.join(',')}`, path.join(HERE, script), ...more];

const flagsOf = (request) => [...ALWAYS, ...flagsFor(ENGINE, request, 'trap', ['trap'])];

/** Starts again with V8's flags for the request. */
export function configure(request) {
  const flags = flagsOf(request);
  ensureStartedWith(sys, addressOf, flags.join(','), command(flags, 'runner.mjs', ...process.argv.slice(2)));
}

/** The hello event: what is in force, and how we know. */
export function hello(request) {
  const [program, ...more] = command(flagsOf(request), 'proof.mjs');
  const shown = spawnSync(program, more);
  const proof = checksProved({ died: shown.signal, printed: String(shown.stdout) });
  return helloOf(ENGINE, process.versions.deno, request, proof);
}

// Deno writes only to what it has opened itself.
const events = Number(process.env.FATHOM_EVENTS_FD ?? '');
const reopened = events > 0 ? fs.openSync(`/proc/self/fd/${events}`, 'a') : undefined;
export const writeEvents = (text) => writeTo(text, reopened);

export const collect = () => globalThis.gc();
export const prepare = (request, descriptors) => prepareWith(WASI, request, descriptors);
export const runThreads = async (module, request) =>
  runOn(await startThreads(request.threads, new URL('./worker.mjs', import.meta.url)), module, request);

/** Pins this thread. */
export function pin(cpu, thread) {
  const why = pinTo(sys, cpu);
  if (why !== null) throw new Failure('unsupported', `cannot pin thread ${thread} to CPU ${cpu}: ${why}`);
}
