// Runs WebAssembly on V8 for fathom: reads one request from standard input, sends
// events to the descriptor in FATHOM_EVENTS_FD.
//
//   runner.mjs     main thread: request, flags, hello, load, compile; then waits
//   worker.mjs     a measured thread: instantiate, run, tear down
//   probe.mjs      probe mode, on the main thread
//   tiers.mjs      V8's flags, and the proof of what is in force
//
// `node runner.mjs --check` prints what would be in force and exits with 0.

import fs from 'node:fs';
import { Worker } from 'node:worker_threads';

import { processCpu, processMetrics, timed } from './clock.mjs';
import { Failure, errorEvent, eventsGoSomewhere, send } from './events.mjs';
import { compileFailure } from './failures.mjs';
import { Gate } from './gate.mjs';
import { probe } from './probe.mjs';
import { configure, hello } from './tiers.mjs';

const PROTOCOL = 1;

function readRequest() {
  let request;
  try {
    request = JSON.parse(fs.readFileSync(0, 'utf8'));
  } catch (error) {
    throw new Failure('internal', `the request is not one line of JSON: ${error.message}`);
  }
  if (request.protocol !== PROTOCOL) {
    throw new Failure('unsupported', `this runner speaks protocol ${PROTOCOL}, not ${request.protocol}`);
  }
  if (request.mode !== 'measure' && request.mode !== 'probe') {
    throw new Failure('unsupported', `this runner has no mode "${request.mode}"`);
  }
  requireFields(request);
  return request;
}

/** Fails where the request lacks what its mode needs, or has it in another type. */
function requireFields(request) {
  const areTexts = (list) => Array.isArray(list) && list.every((one) => typeof one === 'string');
  const arePairs = (list) => Array.isArray(list) && list.every((one) => areTexts(one) && one.length === 2);
  const isCount = (value, least) => Number.isInteger(value) && value >= least;
  const isFine = typeof request.module === 'string' && (request.mode === 'probe'
    ? Array.isArray(request.calls)
    : isCount(request.threads, 1) && isCount(request.iterations, 1) && isCount(request.warmup, 0)
      && areTexts(request.args ?? []) && arePairs(request.env ?? []) && arePairs(request.dirs ?? [])
      && typeof request.scratch === 'string');
  if (!isFine) throw new Failure('internal', `the request lacks what "${request.mode}" needs`);
}

/** Loads and compiles the module, and sends what each took. */
function compile(file) {
  const [bytes, load] = timed(processCpu, () => {
    try {
      return fs.readFileSync(file);
    } catch (error) {
      throw new Failure('io', error.message);
    }
  });
  send({ event: 'phase', phase: 'load', ...load });
  const [module, compiling] = timed(processCpu, () => {
    try {
      return new WebAssembly.Module(bytes);
    } catch (error) {
      throw compileFailure(error);
    }
  });
  send({ event: 'phase', phase: 'compile', ...compiling });
  return module;
}

/** Starts the measured threads; resolves when all are done, rejects with the first failure. */
function measure(module, request) {
  const gate = Gate.memory();
  const threads = Array.from({ length: request.threads }, (_, thread) => {
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), {
      workerData: { module, request, thread, gate },
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message) => (message === 'done' ? resolve() : reject(null)));
      worker.on('error', reject);
    });
  });
  return Promise.all(threads);
}

async function main() {
  const request = readRequest();
  configure(request);
  send(hello(request));
  const module = compile(request.module);
  if (request.mode === 'probe') probe(module, request);
  else await measure(module, request);
  send({ event: 'process', metrics: processMetrics() });
  send({ event: 'done' });
}

if (process.argv[2] === '--check') {
  configure({});
  const { engine, version, tier, checks, evidence } = hello({});
  console.log(`${engine} ${version}: ${tier}, ${checks} (${evidence})`);
} else if (!eventsGoSomewhere) {
  console.error('FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom');
  process.exitCode = 2;
} else {
  main().then(() => process.exit(0), (error) => {
    // A worker has sent its own failure before it rejects with null.
    if (error !== null) send(errorEvent(error));
    process.exit(1);
  });
}
