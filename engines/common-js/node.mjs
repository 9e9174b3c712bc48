// What hosts with Node's modules share: files, threads, the process. Clocks and
// pinning are Linux's where a host can call it (linux.mjs); Node itself cannot.

import fs from 'node:fs';
import path from 'node:path';
import { Worker, parentPort } from 'node:worker_threads';

import { Failure } from './events.mjs';
import { Gate } from './gate.mjs';
import { work } from './worker.mjs';

const descriptor = Number(process.env.FATHOM_EVENTS_FD ?? '');

/** Whether the parent told us where events go. */
export const eventsGoSomewhere = Number.isInteger(descriptor) && descriptor > 0;

/** Writes all of `text` to the event descriptor; a parent that has gone ends the process quietly. */
export function writeEvents(text, to = descriptor) {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) {
    try {
      written += fs.writeSync(to, bytes, written);
    } catch (error) {
      if (error.code === 'EAGAIN') continue;
      process.exit(1);
    }
  }
}

export const readInput = () => fs.readFileSync(0, 'utf8');
export const readFile = (file) => fs.readFileSync(file);
export const print = (text) => console.log(text);
export const complain = (text) => console.error(text);
export const exit = (status) => process.exit(status);

/** Nanoseconds of the monotonic clock, as a BigInt. */
export const now = process.hrtime.bigint;

/** Nanoseconds all threads of this process have spent on a CPU (to a microsecond). */
export function processCpu() {
  const { user, system } = process.cpuUsage();
  return BigInt(user + system) * 1000n;
}

/** What the whole process has used, by the names of the protocol. */
export function processMetrics() {
  const usage = process.resourceUsage();
  const metrics = {
    faults_minor: usage.minorPageFault,
    faults_major: usage.majorPageFault,
    ctx_voluntary: usage.voluntaryContextSwitches,
    ctx_involuntary: usage.involuntaryContextSwitches,
  };
  const status = fs.readFileSync('/proc/self/status', 'latin1');
  const kibibytes = (key) => Number(status.match(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm'))?.[1] ?? NaN) * 1024;
  for (const [name, key] of [['rss_peak_bytes', 'VmHWM'], ['virtual_bytes', 'VmPeak']]) {
    if (!Number.isNaN(kibibytes(key))) metrics[name] = kibibytes(key);
  }
  return metrics;
}

/** Threads that wait for a job, all of them ready. */
export function startThreads(count, script) {
  return Promise.all(Array.from({ length: count }, () => {
    const worker = new Worker(script);
    return new Promise((resolve, reject) => worker.once('message', () => resolve(worker)).once('error', reject));
  }));
}

/** Gives each thread its job; resolves to what they tell when all are done, rejects with the first failure. */
export function runOn(workers, module, request) {
  const gate = Gate.memory();
  return Promise.all(workers.map((worker, thread) => new Promise((resolve, reject) => {
    worker.on('message', ({ done, told }) => (done ? resolve(told) : reject(null)));
    worker.on('error', reject);
    worker.postMessage({ module, request, thread, gate });
  })));
}

/**
 * What such a thread does: it says that it is ready, waits for its job and says how that ended.
 * `enter` comes before the job, and what it returns behind it: what that returns is told.
 */
export function serveThread(host, enter = () => {}) {
  parentPort.once('message', async ({ module, request, thread, gate }) => {
    const leave = await enter(module, request);
    const job = { host, module, request, thread, gate: new Gate(gate, request.threads), iterations: 0 };
    const done = work(job);
    parentPort.postMessage({ done, told: await leave?.(job) });
  });
  parentPort.postMessage('ready');
}

/** Opens what the guest reads and writes: [stdin, stdout, stderr] and stdout's path. */
export function openStreams(request, thread, index) {
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

export const closeStreams = (descriptors) => descriptors.forEach((one) => fs.closeSync(one));

/** Which preopened folder cannot be opened: no WASI of these says which. */
function missingFolder(request) {
  const host = (request.dirs ?? []).map(([folder]) => folder).find((folder) => !fs.existsSync(folder));
  return host === undefined ? null : `cannot open the folder ${host}`;
}

/** `prepare` for a host whose `WASI` is the class of the module node:wasi. */
export function prepareWith(WASI, request, [stdin, stdout, stderr]) {
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
    throw new Failure('io', missingFolder(request) ?? error.message);
  }
  return { imports: wasi.getImportObject(), start: (instance) => wasi.start(instance) ?? 0, close: () => {} };
}
