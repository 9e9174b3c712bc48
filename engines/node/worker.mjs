// A measured thread: pinned to its CPU, it makes an instance, runs `_start` and
// lets the instance go, again and again, and sends each iteration's costs.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import { WASI } from 'node:wasi';
import { parentPort, workerData } from 'node:worker_threads';

import { threadCpu, timed } from './clock.mjs';
import { Failure, errorEvent, send } from './events.mjs';
import { instantiateFailure, runFailure } from './failures.mjs';
import { Gate } from './gate.mjs';
import { backendOf, requireCompiler } from './tiers.mjs';

const { module, request, thread } = workerData;
const gate = new Gate(workerData.gate, request.threads);

// The only way V8 has to give an instance's memory back at once.
v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

/** Pins this thread. Node cannot, but util-linux can, given the kernel's thread id. */
function pin(cpu) {
  const id = path.basename(fs.readlinkSync('/proc/thread-self'));
  const taskset = spawnSync('taskset', ['-cp', String(cpu), id]);
  if (taskset.status !== 0) {
    const why = taskset.error?.message ?? String(taskset.stderr).trim();
    throw new Failure('unsupported', `cannot pin thread ${thread} to CPU ${cpu}: ${why}`);
  }
}

/** Opens what the guest reads and writes: [stdin, stdout, stderr] and stdout's path. */
function openStreams(index) {
  const stdout = path.join(request.scratch, `stdout.${thread}.${index}`);
  try {
    return {
      stdout,
      descriptors: [
        fs.openSync(request.stdin ?? '/dev/null', 'r'),
        fs.openSync(stdout, 'w'),
        fs.openSync(path.join(request.scratch, `stderr.${thread}.${index}`), 'w'),
      ],
    };
  } catch (error) {
    throw new Failure('io', error.message);
  }
}

/** Which preopened folder cannot be opened: Node's WASI does not say. */
function missingFolder() {
  const host = (request.dirs ?? []).map(([folder]) => folder).find((folder) => !fs.existsSync(folder));
  return host === undefined ? null : `cannot open the folder ${host}`;
}

/** An instance with a WASI of its own. */
function instantiate([stdin, stdout, stderr]) {
  let wasi;
  try {
    wasi = new WASI({
      version: 'preview1',
      args: [path.basename(request.module), ...(request.args ?? [])],
      env: Object.fromEntries(request.env ?? []),
      preopens: Object.fromEntries((request.dirs ?? []).map(([host, guest]) => [guest, host])),
      stdin, stdout, stderr,
      returnOnExit: true,
    });
  } catch (error) {
    throw new Failure('io', missingFolder() ?? error.message);
  }
  try {
    return { wasi, instance: new WebAssembly.Instance(module, wasi.getImportObject()) };
  } catch (error) {
    throw instantiateFailure(error);
  }
}

/** Runs the program and returns its exit code. */
function run({ wasi, instance }) {
  try {
    return wasi.start(instance) ?? 0;
  } catch (error) {
    throw runFailure(error);
  }
}

/** One iteration: instantiate, run, tear down. The first also checks the tier. */
function iterate(index, counted) {
  const { stdout, descriptors } = openStreams(index);
  let [running, instantiateCost] = timed(threadCpu, () => instantiate(descriptors));
  if (typeof running.instance.exports._start !== 'function') {
    throw new Failure('link', 'the module has no function _start');
  }
  if (index === 0) requireCompiler(backendOf(request), running.instance.exports._start);
  const [exit, runCost] = timed(threadCpu, () => run(running));
  const [, teardownCost] = timed(threadCpu, () => {
    running = null;
    collect();
  });
  for (const descriptor of descriptors) fs.closeSync(descriptor);
  const phases = { instantiate: instantiateCost, run: runCost, teardown: teardownCost };
  send({ event: 'iteration', thread, index, counted, phases, exit, stdout });
}

function measure() {
  if (request.cpus?.length) pin(request.cpus[thread % request.cpus.length]);
  let index = 0;
  while (index < request.warmup) iterate(index++, false);
  gate.waitUntilAllAreWarm();
  for (const end = index + request.iterations; index < end;) iterate(index++, true);
  gate.finish();
  while (!gate.allHaveFinished()) iterate(index++, false);
}

try {
  measure();
  parentPort.postMessage('done');
} catch (error) {
  send(errorEvent(error));
  parentPort.postMessage('failed');
}
