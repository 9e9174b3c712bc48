// Runs WebAssembly in a JavaScript engine for fathom: reads one request from standard
// input, sends events to the descriptor in FATHOM_EVENTS_FD.
//
//   main.mjs     main thread: request, flags, hello, load, compile; then waits
//   worker.mjs   a measured thread: instantiate, run, tear down
//   probe.mjs    probe mode, on the main thread
//   gate.mjs     keeps the measured threads together
//
// What differs from engine to engine is its `host`, the namespace of a module:
//
//   ENGINE, VERSION, TRAPS, STACK, UNSUPPORTED    names and words (failures.mjs)
//   eventsGoSomewhere, writeEvents(text)          the event descriptor
//   readInput(), readFile(path)                   text; bytes
//   now(), threadCpu(), processCpu()              nanoseconds as BigInt, null where unknown
//   processMetrics()                              by the names of the protocol
//   configure(request), hello(request)            sets flags; says what is in force; the first may wait
//   translation, compiled(bytes)                  where modules may be made of something else: what that
//                                                 has cost in `cost`, and what stands for a module
//   requireTier(request, exported)                fails where the tier is another one
//   runThreads(module, request)                   runs `work` of worker.mjs on each thread; to what these
//                                                 tell of collections, where they can (managed.mjs)
//   pin(cpu, thread), collect()                   the measured thread's
//   openStreams(request, thread, index)           {stdout, descriptors}
//   closeStreams(descriptors)
//   prepare(request, descriptors, module)         a WASI: {imports, start(instance), close()}; one that has
//                                                 an `instantiate` makes the instance
//   exit(status), print(text), complain(text)
//
// node.mjs has what engines with Node's modules share, v8.mjs what is V8's.

import { timed } from './clock.mjs';
import { Failure, errorEvent, send } from './events.mjs';
import { compileFailure } from './failures.mjs';
import { metricsOf } from './managed.mjs';
import { probe } from './probe.mjs';

const PROTOCOL = 1;

function readRequest(host) {
  let request;
  try {
    request = JSON.parse(host.readInput());
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
function compile(host, file) {
  const [bytes, load] = timed(host, 'processCpu', () => {
    try {
      return host.readFile(file);
    } catch (error) {
      throw new Failure('io', error.message);
    }
  });
  send(host, { event: 'phase', phase: 'load', ...load });
  const [module, compiling] = timed(host, 'processCpu', () => {
    try {
      return host.compiled === undefined ? new WebAssembly.Module(bytes) : host.compiled(bytes);
    } catch (error) {
      throw compileFailure(host, error);
    }
  });
  for (const [unit, spent] of Object.entries(host.translation?.cost ?? {})) compiling[unit] += spent;
  send(host, { event: 'phase', phase: 'compile', ...compiling });
  return module;
}

/** What of `compile` was translating. */
const translationMetrics = ({ translation }) => (translation ? { translate_ns: translation.cost.wall_ns } : {});

async function serve(host) {
  const request = readRequest(host);
  await host.configure(request);
  send(host, host.hello(request));
  const module = compile(host, request.module);
  let told = [];
  if (request.mode === 'probe') probe(host, module, request);
  else told = await host.runThreads(module, request) ?? [];
  const watched = told.filter((one) => one !== undefined);
  const collected = watched.length > 0 ? metricsOf(watched) : {};
  send(host, { event: 'process', metrics: { ...host.processMetrics(), ...translationMetrics(host), ...collected } });
  send(host, { event: 'done' });
}

/** The whole program; `checks` if it was started with `--check`. */
export async function main(host, checks) {
  if (checks) {
    host.configure({});
    const { engine, version, tier, checks: kind, evidence } = host.hello({});
    host.print(`${engine} ${version}: ${tier}, ${kind} (${evidence})`);
    return host.exit(0);
  }
  if (!host.eventsGoSomewhere) {
    host.complain('FATHOM_EVENTS_FD does not name a descriptor: this program is started by fathom');
    return host.exit(2);
  }
  try {
    await serve(host);
    host.exit(0);
  } catch (error) {
    // A worker has sent its own failure before it rejects with null.
    if (error !== null) send(host, errorEvent(error));
    host.exit(1);
  }
}
