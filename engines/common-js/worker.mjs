// A measured thread: pinned to its CPU, it makes an instance, runs `_start` and
// lets the instance go, again and again, and sends each iteration's costs.

import { timed } from './clock.mjs';
import { Failure, errorEvent, send } from './events.mjs';
import { instantiateFailure, runFailure } from './failures.mjs';

/** An instance with a WASI of its own. */
function instantiate({ host, module, request }, descriptors) {
  const wasi = host.prepare(request, descriptors);
  try {
    return { wasi, instance: new WebAssembly.Instance(module, wasi.imports) };
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

/** One iteration: instantiate, run, tear down. The first also checks the tier. */
function iterate(job, index, counted) {
  const { host, request, thread } = job;
  const { stdout, descriptors } = host.openStreams(request, thread, index);
  let [running, instantiateCost] = timed(host, 'threadCpu', () => instantiate(job, descriptors));
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
