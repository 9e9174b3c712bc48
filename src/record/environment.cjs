// Where the recorder is: a process of node, deno or bun. What it is told comes from the environment,
// which the program has as it was: a module that copies it (Go's do) is recorded the same each time.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const children = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');
const threads = require('node:worker_threads');

const { FATHOM_RECORD_FOLDER: FOLDER, FATHOM_RECORD_COMPARE } = process.env;
/** Where hosts are given options, and what the program had there. */
const OPTIONS = Object.fromEntries(['NODE_OPTIONS', 'BUN_OPTIONS', 'DENO_V8_FLAGS'].map((name) => [name, `FATHOM_RECORD_${name}`]));
const NAMES = ['FATHOM_CHILD', 'FATHOM_RECORD_FOLDER', 'FATHOM_RECORD_COMPARE', ...Object.entries(OPTIONS).flat()];
const told = Object.fromEntries(NAMES.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]));

function hide() {
  for (const name of NAMES) delete process.env[name];
  for (const [name, own] of Object.entries(OPTIONS)) if (told[own] !== undefined) process.env[name] = told[own];
}

/** An environment that a program gives to another, which says what this process was told. */
function tellingToo(env) {
  const all = { ...env, ...told };
  for (const [name, own] of Object.entries(OPTIONS)) {
    delete all[own];
    if (env[name] === undefined) continue;
    all[own] = env[name];
    const between = name === 'DENO_V8_FLAGS' ? ',' : ' ';
    all[name] = told[name] === undefined ? env[name] : told[name] + between + env[name];
  }
  return all;
}

/** The same arguments, where their options may name an environment. */
function withTold(given) {
  const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
  return given.map((one) => (isObject(one) && isObject(one.env) ? { ...one, env: tellingToo(one.env) } : one));
}

/** What is started meanwhile is told what this process was told. */
function telling(start) {
  Object.assign(process.env, told);
  try {
    return start();
  } finally {
    hide();
  }
}

/** Takes it from the program; its processes and threads have it. */
function install() {
  hide();
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
    children[name] = new Proxy(children[name], { apply: (target, self, given) => telling(() => Reflect.apply(target, self, withTold(given))) });
  }
  threads.Worker = new Proxy(threads.Worker, { construct: (target, given, as) => telling(() => Reflect.construct(target, withTold(given), as)) });
  syncBuiltinESMExports();
}

if (FOLDER !== undefined) install();

const { deno, bun, node } = process.versions;

exports.isRecording = FOLDER !== undefined;
exports.compare = FATHOM_RECORD_COMPARE ?? 'auto';
exports.host = deno ? `deno ${deno}` : bun ? `bun ${bun}` : `node ${node}`;

/** A file of the record. */
exports.create = function create(name) {
  const at = path.join(FOLDER, `${process.pid}-${threads.threadId}-${name}`);
  const file = fs.openSync(at, 'w');
  return {
    path: at,
    write(bytes) {
      for (let from = 0; from < bytes.length;) from += fs.writeSync(file, bytes, from);
    },
    close: () => fs.closeSync(file),
  };
};

/** Calls `finish` when the program ends. */
exports.atEnd = function atEnd(finish) {
  process.once('exit', finish);
  // A signal that nobody listens for ends the program without its `exit`.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return;
      finish();
      process.kill(process.pid, signal);
    });
  }
};

/** The guest runs, or has run. */
exports.ran = () => {};

/** As many bytes as are compared in half a second, and what compares them. */
exports.comparedSoon = 2 ** 32;
exports.view = (buffer) => Buffer.from(buffer);
exports.zeros = (length) => Buffer.alloc(length);
exports.isSame = (one, from, other, at, length) => one.compare(other, at, at + length, from, from + length) === 0;
