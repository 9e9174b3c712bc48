// Components on Node.js, which knows none: jco makes core modules and JavaScript of one, and
// its shim is the WASI 0.2.
//
//   main thread      translate: core modules and the glue's text ─▶ compiled
//   measured thread  load: the glue and the shim, before anything is timed
//                    world ─▶ instantiate ─▶ start, for each iteration
//
// What must stay true: jco and its shim do what they do for everybody. Ours are only the
// streams of standard input and output, since the shim's write by `process.stdout`, which is
// the main thread's: these do the same with the iteration's files.

import fs from 'node:fs';
import path from 'node:path';

import { timed } from '../common-js/clock.mjs';
import { Failure } from '../common-js/events.mjs';
import * as node from '../common-js/node.mjs';

// What a component begins with (component model, Binary.md).
const MAGIC = Buffer.from('\0asm\x0d\0\x01\0', 'latin1');
const PACKAGES = new URL('../../.tools/engines/jco/node_modules/@bytecodealliance/', import.meta.url);
// What `jco transpile --instantiation sync` asks for.
const OPTIONS = {
  name: 'component',
  map: [],
  instantiation: { tag: 'sync' },
  noTypescript: true,
  noNodejsCompat: true,
  noComponentErrorWrapping: true,
  base64Cutoff: 0,
};
const RUN = /^wasi:cli\/run@0\.2\./;

export const isComponent = (bytes) => bytes.subarray(0, MAGIC.length).equals(MAGIC);

/**
 * What jco makes of a component: the files or the error, what that took, and which jco it was.
 * jco's own start does not count, nor is it compiled as the component is: no flag is set yet.
 */
export async function translate(bytes) {
  const folder = new URL('jco-transpile/', PACKAGES);
  if (!fs.existsSync(folder)) {
    throw new Failure('lacking', 'no components without jco: fathom engines install jco');
  }
  const { version } = JSON.parse(fs.readFileSync(new URL('package.json', folder), 'utf8'));
  const { $init, generate } = await import(new URL('vendor/js-component-bindgen-component.js', folder));
  await $init;
  const [made, cost] = timed(node, 'processCpu', () => {
    try {
      return generate(bytes, OPTIONS);
    } catch (error) {
      return { error };
    }
  });
  return { ...made, cost, by: `jco ${version}` };
}

/** Core modules, compiled, and the JavaScript, as threads are given them. */
export function compiled({ files, error }) {
  if (error !== undefined) throw error;
  const cores = files.filter(([name]) => name.endsWith('.wasm'));
  const [, glue] = files.find(([name]) => name.endsWith('.js'));
  return {
    cores: new Map(cores.map(([name, core]) => [name, new WebAssembly.Module(core)])),
    glue: Buffer.from(glue).toString('base64'),
  };
}

let instance = null;
let shim = null;

/** What a measured thread needs for a component. */
export async function load({ glue }) {
  instance = (await import(`data:text/javascript;base64,${glue}`)).instantiate;
  const wasi = await import(new URL('preview2-shim/dist/nodejs/index.js', PACKAGES));
  const { WASIShim } = await import(new URL('preview2-shim/dist/common/instantiation.js', PACKAGES));
  shim = { WASIShim, wasi, ...streamClasses(wasi) };
}

/** Thrown by a program that ends itself. */
class Exit {
  constructor(status) {
    this.status = status;
  }
}

/** The shim's streams, of files of this thread. */
function streamClasses({ io, clocks }) {
  const ready = () => clocks.monotonicClock.subscribeDuration(0n);
  const FREE = 1n << 20n;
  class ToFile extends io.streams.OutputStream {
    descriptor = -1;
    checkWrite = () => FREE;
    write(bytes) {
      for (let done = 0; done < bytes.length;) done += fs.writeSync(this.descriptor, bytes, done);
    }
    blockingWriteAndFlush(bytes) {
      this.write(bytes);
    }
    writeZeroes(count) {
      this.write(new Uint8Array(Number(count)));
    }
    blockingWriteZeroesAndFlush(count) {
      this.writeZeroes(count);
    }
    flush() {}
    blockingFlush() {}
    subscribe = ready;
  }
  class FromFile extends io.streams.InputStream {
    descriptor = -1;
    read(count) {
      const bytes = new Uint8Array(Number(count < FREE ? count : FREE));
      const length = fs.readSync(this.descriptor, bytes);
      if (length === 0 && bytes.length > 0) throw { tag: 'closed' };
      return bytes.subarray(0, length);
    }
    blockingRead(count) {
      return this.read(count);
    }
    skip(count) {
      return BigInt(this.read(count).length);
    }
    blockingSkip(count) {
      return this.skip(count);
    }
    subscribe = ready;
  }
  return { ToFile, FromFile };
}

function imports(request, [stdin, stdout, stderr]) {
  const of = (kind, descriptor) => Object.assign(new kind(), { descriptor });
  const streams = [of(shim.FromFile, stdin), of(shim.ToFile, stdout), of(shim.ToFile, stderr)];
  const missing = (request.dirs ?? []).map(([folder]) => folder).find((folder) => !fs.existsSync(folder));
  if (missing !== undefined) throw new Failure('io', `cannot open the folder ${missing}`);
  const sandbox = {
    args: [path.basename(request.module), ...(request.args ?? [])],
    env: Object.fromEntries(request.env ?? []),
    preopens: Object.fromEntries((request.dirs ?? []).map(([host, guest]) => [guest, host])),
  };
  const end = (status) => {
    throw new Exit(status);
  };
  return {
    ...new shim.WASIShim({ sandbox }).getImportObject(),
    'wasi:cli/exit': { exit: ({ tag }) => end(tag === 'err' ? 1 : 0), exitWithCode: end },
    'wasi:cli/stdin': { getStdin: () => streams[0] },
    'wasi:cli/stdout': { getStdout: () => streams[1] },
    'wasi:cli/stderr': { getStderr: () => streams[2] },
  };
}

/** A WASI 0.2 of its own, and how an instance is made in it. */
export function world(request, descriptors, { cores }) {
  const given = imports(request, descriptors);
  const instantiate = () => {
    const made = [];
    const core = (module, wanted) => {
      made.push(new WebAssembly.Instance(module, wanted));
      return made.at(-1);
    };
    const exports = instance((name) => cores.get(name), given, core);
    const name = Object.keys(exports).find((one) => RUN.test(one));
    if (name === undefined) throw new Failure('link', 'the component exports no wasi:cli/run@0.2');
    const compiled = made.flatMap((one) => Object.values(one.exports)).find((one) => typeof one === 'function');
    return { exports: { _start: compiled }, run: exports[name].run };
  };
  return { instantiate, start, close: () => {} };
}

/** Runs the command: its exit status. */
function start({ run }) {
  try {
    run();
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.status;
    // The error of `run` is nothing (wasi:cli/run).
    if (error === undefined || (error instanceof Error && 'payload' in error)) return 1;
    throw error;
  }
}
