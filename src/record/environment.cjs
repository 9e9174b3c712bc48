// What the recorder is told, and the environment of the program, from which that is taken:
// a module that copies its environment (Go's do) is recorded the same each time.
'use strict';

const children = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');
const threads = require('node:worker_threads');

const { NODE_OPTIONS, FATHOM_RECORD_FOLDER, FATHOM_RECORD_COMPARE, FATHOM_RECORD_NODE_OPTIONS } = process.env;
const told = { NODE_OPTIONS, FATHOM_RECORD_FOLDER, FATHOM_RECORD_COMPARE };
if (FATHOM_RECORD_NODE_OPTIONS !== undefined) told.FATHOM_RECORD_NODE_OPTIONS = FATHOM_RECORD_NODE_OPTIONS;

function hide() {
  for (const name of Object.keys(told)) delete process.env[name];
  if (FATHOM_RECORD_NODE_OPTIONS !== undefined) process.env.NODE_OPTIONS = FATHOM_RECORD_NODE_OPTIONS;
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
    children[name] = new Proxy(children[name], { apply: (target, self, given) => telling(() => Reflect.apply(target, self, given)) });
  }
  threads.Worker = new Proxy(threads.Worker, { construct: (target, given, as) => telling(() => Reflect.construct(target, given, as)) });
  syncBuiltinESMExports();
}

if (FATHOM_RECORD_FOLDER !== undefined) install();

module.exports = { folder: FATHOM_RECORD_FOLDER, compare: FATHOM_RECORD_COMPARE ?? 'auto' };
