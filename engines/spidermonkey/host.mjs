// SpiderMonkey in a shell of ours as a host, with our WASI. What a host is:
// ../common-js/main.mjs; what the shell gives: natives.cpp.

import { Failure } from '../common-js/events.mjs';
import { clocksOf, pinTo } from '../common-js/linux.mjs';
import { TINY, checksProved } from '../common-js/proof.mjs';
import { prepareOurs } from '../common-js/wasi_world.mjs';
import { bytesOf, textOf } from './text.mjs';

const { sys } = shell;
export const { now, processCpu, threadCpu } = clocksOf(sys);

const READ = 0;
const WRITE = 1;
const OPEN = 2;
const CLOSE = 3;
const GETRUSAGE = 98;
const EXIT_GROUP = 231;
const O_WRONLY_CREAT_TRUNC = 0x241;
const O_CLOEXEC = 0x80000;
const EAGAIN = 11;
const ENOENT = 2;

export const ENGINE = 'spidermonkey';
// SpiderMonkey's message (a part of it) → the specification's.
export const TRAPS = [
  ['table index out of bounds', 'out of bounds table access'],
  ['index out of bounds', 'out of bounds memory access'],
  ['unaligned memory access', 'unaligned atomic'],
  ['unreachable executed', 'unreachable'],
  ['integer divide by zero', 'integer divide by zero'],
  ['integer overflow', 'integer overflow'],
  ['invalid conversion to integer', 'invalid conversion to integer'],
  ['indirect call to null', 'uninitialized element'],
  ['indirect call signature mismatch', 'indirect call type mismatch'],
];
export const STACK = /too much recursion/;
export const UNSUPPORTED = /not enabled|is disabled|not supported/;

// optimizing  all functions before the first runs; baseline: likewise
// tiering     what users get: baseline first, the optimising compiler for what runs often
const BACKENDS = { optimizing: [false, true], baseline: [true, false], tiering: [true, true] };
const TIERS = { optimizing: 'optimising', baseline: 'baseline', tiering: 'tiering' };
const STRATEGIES = { guard: [], trap: ['--no-huge-memory'] };

const words = shell.command.split('\n');
const isHuge = words[1] !== '--no-huge-memory';
const HERE = words[isHuge ? 1 : 2].replace(/[^/]*$/, '');

// Files --------------------------------------------------------------------------

function open(path, flags, mode = 0) {
  const file = sys(OPEN, bytesOf(`${path}\0`), flags | O_CLOEXEC, mode);
  if (file < 0) throw new Failure('io', `${path}: ${file === -ENOENT ? 'no such file or directory' : `errno ${-file}`}`);
  return file;
}

function readAll(file) {
  let bytes = new Uint8Array(1 << 16);
  let length = 0;
  for (let got; (got = sys(READ, file, bytes.subarray(length), bytes.length - length)) > 0;) {
    length += got;
    if (length === bytes.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(bytes);
      bytes = larger;
    }
  }
  return bytes.subarray(0, length);
}

export function readFile(path) {
  const file = open(path, 0);
  try {
    return readAll(file);
  } finally {
    sys(CLOSE, file);
  }
}

function writeAll(file, text) {
  const bytes = bytesOf(text);
  for (let at = 0; at < bytes.length;) {
    const written = sys(WRITE, file, bytes.subarray(at), bytes.length - at);
    if (written > 0) at += written;
    else if (written !== -EAGAIN) exit(1);
  }
}

const environment = Object.fromEntries(textOf(readFile('/proc/self/environ')).split('\0')
  .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
const descriptor = Number(environment.FATHOM_EVENTS_FD ?? '');

export const eventsGoSomewhere = Number.isInteger(descriptor) && descriptor > 0;
export const writeEvents = (text) => writeAll(descriptor, text);
export const print = (text) => writeAll(1, `${text}\n`);
export const complain = (text) => writeAll(2, `${text}\n`);
export const exit = (status) => sys(EXIT_GROUP, status);

let input = '';

export function readInput() {
  input = textOf(readAll(0));
  return input;
}

/** Opens what the guest reads and writes: [stdin, stdout, stderr] and stdout's path. */
export function openStreams(request, thread, index) {
  const stdout = `${request.scratch}/stdout.${thread}.${index}`;
  const stderr = `${request.scratch}/stderr.${thread}.${index}`;
  const create = (path) => open(path, O_WRONLY_CREAT_TRUNC, 0o666);
  return { stdout, descriptors: [open(request.stdin ?? '/dev/null', 0), create(stdout), create(stderr)] };
}

export const closeStreams = (descriptors) => descriptors.forEach((one) => sys(CLOSE, one));

/** What the whole process has used, by the names of the protocol. */
export function processMetrics() {
  const usage = new BigInt64Array(18);
  sys(GETRUSAGE, 0, usage);
  const at = { faults_minor: 8, faults_major: 9, ctx_voluntary: 16, ctx_involuntary: 17 };
  const metrics = Object.fromEntries(Object.entries(at).map(([name, place]) => [name, Number(usage[place])]));
  const status = textOf(readFile('/proc/self/status'));
  for (const [name, key] of [['rss_peak_bytes', 'VmHWM'], ['virtual_bytes', 'VmPeak']]) {
    const found = status.match(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm'));
    if (found !== null) metrics[name] = Number(found[1]) * 1024;
  }
  return metrics;
}

// The engine ---------------------------------------------------------------------

const backendOf = (request) => request.backend ?? (request.opt === 'none' ? 'baseline' : 'optimizing');

/** Switches the compilers; starts again where memories must not reserve their whole space. */
export function configure(request) {
  const backend = backendOf(request);
  const strategy = request.strategy ?? 'guard';
  if (!Object.hasOwn(BACKENDS, backend)) {
    throw new Failure('unsupported', `${ENGINE} has no backend "${backend}": use ${Object.keys(BACKENDS).join(', ')}`);
  }
  if (!Object.hasOwn(STRATEGIES, strategy)) {
    throw new Failure('unsupported', `${ENGINE} has no strategy "${strategy}": use guard or trap`);
  }
  if (isHuge !== (strategy === 'guard')) shell.restart([...STRATEGIES[strategy], `${HERE}runner.mjs`], input);
  shell.setCompilers(...BACKENDS[backend]);
}

/** Without the compiler that is on there is none: so it is the one that compiles. */
function provedTier(backend) {
  if (backend === 'tiering') return ['tiering', "SpiderMonkey's default: baseline first, the optimising compiler for what runs often"];
  shell.setCompilers(false, false);
  let compiles = true;
  try {
    new WebAssembly.Module(TINY);
  } catch {
    compiles = false;
  }
  shell.setCompilers(...BACKENDS[backend]);
  return compiles
    ? ['unknown', 'SpiderMonkey compiles with every compiler switched off']
    : [TIERS[backend], `the compiler ${backend} alone is on, and with it off the engine says that it has none`];
}

const SIGNALS = { 7: 'SIGBUS', 11: 'SIGSEGV' };

/** The hello event: what is in force, and how we know. */
export function hello(request) {
  const backend = backendOf(request);
  const [tier, tierEvidence] = provedTier(backend);
  const shown = shell.child([...(isHuge ? [] : STRATEGIES.trap), `${HERE}proof.mjs`]);
  const [checks, checksEvidence] = checksProved({ died: SIGNALS[shown.died] ?? null, printed: shown.printed });
  return {
    event: 'hello',
    engine: ENGINE,
    version: environment.FATHOM_VERSION ?? 'unknown',
    backend,
    tier,
    checks,
    evidence: `Debian's libmozjs; ${tierEvidence}; ${checksEvidence}`,
  };
}

/** SpiderMonkey does not tell which compiler made a function; `hello` has proved it. */
export function requireTier() {}

export const collect = () => shell.gc();
export const prepare = (request, descriptors) => prepareOurs(sys, request, descriptors);

/** Runs worker.mjs on each thread, with contexts of their own. */
export async function runThreads(module, request) {
  if (!shell.runThreads(`${HERE}worker.mjs`, request.threads, module, JSON.stringify(request))) throw null;
}

/** Pins this thread. */
export function pin(cpu, thread) {
  const why = pinTo(sys, cpu);
  if (why !== null) throw new Failure('unsupported', `cannot pin thread ${thread} to CPU ${cpu}: ${why}`);
}

export const isCheck = words[words.length - 1] === '--check';
