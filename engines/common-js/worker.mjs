// A measured thread: pinned to its CPU, it makes an instance, runs `_start` and
// lets the instance go, again and again, and sends each iteration's costs.

import { timed } from './clock.mjs';
import { Failure, errorEvent, send } from './events.mjs';
import { instantiateFailure, runFailure } from './failures.mjs';

/** Whether a module imports nothing, so that its instances need no WASI. */
function isBare(module) {
  return module instanceof WebAssembly.Module && WebAssembly.Module.imports(module).length === 0;
}

/** In the place of a WASI: one wants a memory that is exported, which a bare module need not have. */
const NO_WASI = {
  imports: {},
  start(instance) {
    instance.exports._start();
    return 0;
  },
  close() {},
};

/** A WASI of its own, unless it imports nothing: made before the clock starts. */
function enter({ host, module, request }, descriptors) {
  return isBare(module) ? NO_WASI : host.prepare(request, descriptors, module);
}

/** An instance in its world. */
function instantiate({ host, module }, wasi) {
  try {
    return { wasi, instance: wasi.instantiate?.() ?? new WebAssembly.Instance(module, wasi.imports) };
  } catch (error) {
    throw instantiateFailure(host, error);
  }
}

/** Runs the program and returns its exit code. */
function run(host, { wasi, instance }) {
  try {
    return wasi.start(instance);
  } catch (error) {
    throw runFailure(host, error);
  }
}

/** As many as the protocol says, one after the other. */
const INSTANCES_PER_CYCLE = 1000;

/** Instances in a row, and their collection: nothing else ends one. */
function cycle({ host, module }) {
  try {
    for (let i = 0; i < INSTANCES_PER_CYCLE; i++) new WebAssembly.Instance(module).exports._start();
  } catch (error) {
    throw runFailure(host, error);
  }
  host.collect();
}

/** One iteration: instantiate, run, tear down. The first also checks the tier. */
function iterate(job, index, counted) {
  const { host, request, thread } = job;
  job.iterations += 1;
  const { stdout, descriptors } = host.openStreams(request, thread, index);
  const wasi = enter(job, descriptors);
  let [running, instantiateCost] = timed(host, 'threadCpu', () => instantiate(job, wasi));
  const start = running.instance.exports._start;
  if (typeof start !== 'function') throw new Failure('link', 'the module has no function _start');
  if (index === 0) host.requireTier(request, start);
  const [exit, runCost] = timed(host, 'threadCpu', () => run(host, running));
  const [, teardownCost] = timed(host, 'threadCpu', () => {
    running.wasi.close();
    running = null;
    host.collect();
  });
  host.closeStreams(descriptors);
  const phases = { instantiate: instantiateCost, run: runCost, teardown: teardownCost };
  if (request.cycle && isBare(job.module)) phases.cycle = timed(host, 'threadCpu', () => cycle(job))[1];
  send(host, { event: 'iteration', thread, index, counted, phases, exit, stdout });
}

function measure(job) {
  const { host, request, thread, gate } = job;
  if (request.cpus?.length) host.pin(request.cpus[thread % request.cpus.length], thread);
  let index = 0;
  while (index < request.warmup) iterate(job, index++, false);
  gate.waitUntilAllAreWarm();
  for (const end = index + request.iterations; index < end;) iterate(job, index++, true);
  gate.finish();
  while (!gate.allHaveFinished()) iterate(job, index++, false);
}

/** Does the `job` {host, module, request, thread, gate}; false where it failed and the parent was told. */
export function work(job) {
  try {
    measure(job);
    return true;
  } catch (error) {
    send(job.host, errorEvent(error));
    return false;
  }
}
