// WASI preview 1 for hosts that have none of their own: the module's view of memory,
// arguments, clocks and its end. Files are in wasi_files.mjs.
//
// Everything ends in a system call of Linux (x86-64's numbers), made by the host's
// `sys`. A function here returns WASI's errno; whatever is thrown is ours, or the
// guest's end.

import { CODES, linuxCode } from './wasi_codes.mjs';
import { Files } from './wasi_files.mjs';

const SCHED_YIELD = 24;
const CLOCK_GETTIME = 228;
const CLOCK_GETRES = 229;
const CLOCK_NANOSLEEP = 230;
const GETRANDOM = 318;
const TIMER_ABSTIME = 1;

// WASI's realtime, monotonic, process and thread clocks have Linux's numbers 0 to 3.
const CLOCKS = 4;
const NS = 1_000_000_000n;

const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const SUBSCRIBED_CLOCK = 0;
const ABSOLUTE = 1;

/** How the guest ends itself; passes through its frames. */
class Exit {
  constructor(code) {
    this.code = code;
  }
}

/** The guest's memory, looked at afresh each time: it moves when it grows. */
export class Memory {
  #memory = null;

  attach(memory) {
    this.#memory = memory;
  }

  view() {
    return new DataView(this.#memory.buffer);
  }

  /** Bytes of the guest; throws a RangeError where they are not all inside. */
  bytes(at, length) {
    return new Uint8Array(this.#memory.buffer, at >>> 0, length >>> 0);
  }

  u32(at, value) {
    this.view().setUint32(at >>> 0, value, true);
  }

  u64(at, value) {
    this.view().setBigUint64(at >>> 0, BigInt(value), true);
  }
}

export class Wasi {
  #sys;
  #memory = new Memory();
  #args;
  #env;
  #files;

  /**
   * `args` and `env` are lists of byte strings without their final 0, `folders` pairs
   * of a host path and a guest name as bytes, `streams` three open descriptors.
   * Throws {folder} with the number of a folder that cannot be opened.
   */
  constructor(sys, { args, env, folders, streams }) {
    this.#sys = sys;
    this.#args = args;
    this.#env = env;
    this.#files = new Files(sys, this.#memory, streams, folders);
  }

  get imports() {
    const own = {};
    for (const name of ['args_get', 'args_sizes_get', 'environ_get', 'environ_sizes_get', 'clock_res_get',
      'clock_time_get', 'poll_oneoff', 'proc_exit', 'proc_raise', 'random_get', 'sched_yield']) {
      own[name] = this.#guarded((...values) => this[name](...values));
    }
    for (const [name, work] of Object.entries(this.#files.functions())) own[name] = this.#guarded(work);
    return { wasi_snapshot_preview1: own };
  }

  /** A pointer outside of memory is the guest's mistake, not the end of the host. */
  #guarded(work) {
    return (...values) => {
      try {
        return work(...values);
      } catch (error) {
        if (error instanceof RangeError) return CODES.fault;
        throw error;
      }
    };
  }

  /** Runs `_start`; returns the exit code. */
  start(instance) {
    const { memory, _start } = instance.exports;
    if (memory !== undefined) this.#memory.attach(memory);
    try {
      _start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  /** Closes what the guest left open. */
  close() {
    this.#files.close();
  }

  #sizes(list, countAt, bytesAt) {
    this.#memory.u32(countAt, list.length);
    this.#memory.u32(bytesAt, list.reduce((sum, one) => sum + one.length + 1, 0));
    return CODES.success;
  }

  #list(list, pointersAt, bytesAt) {
    let at = bytesAt >>> 0;
    list.forEach((text, index) => {
      this.#memory.u32(pointersAt + 4 * index, at);
      const place = this.#memory.bytes(at, text.length + 1);
      place.set(text);
      place[text.length] = 0;
      at += text.length + 1;
    });
    return CODES.success;
  }

  args_sizes_get(countAt, bytesAt) {
    return this.#sizes(this.#args, countAt, bytesAt);
  }

  args_get(pointersAt, bytesAt) {
    return this.#list(this.#args, pointersAt, bytesAt);
  }

  environ_sizes_get(countAt, bytesAt) {
    return this.#sizes(this.#env, countAt, bytesAt);
  }

  environ_get(pointersAt, bytesAt) {
    return this.#list(this.#env, pointersAt, bytesAt);
  }

  #clock(call, clock, resultAt) {
    if (clock >>> 0 >= CLOCKS) return CODES.inval;
    const time = new BigInt64Array(2);
    const status = this.#sys(call, clock, time);
    if (status === 0) this.#memory.u64(resultAt, time[0] * NS + time[1]);
    return linuxCode(status);
  }

  clock_res_get(clock, resultAt) {
    return this.#clock(CLOCK_GETRES, clock, resultAt);
  }

  clock_time_get(clock, _precision, resultAt) {
    return this.#clock(CLOCK_GETTIME, clock, resultAt);
  }

  random_get(at, length) {
    const bytes = this.#memory.bytes(at, length);
    for (let got = 0; got < bytes.length;) {
      const more = this.#sys(GETRANDOM, bytes.subarray(got), bytes.length - got, 0);
      if (more < 0) return linuxCode(more);
      got += more;
    }
    return CODES.success;
  }

  sched_yield() {
    return linuxCode(this.#sys(SCHED_YIELD));
  }

  proc_exit(code) {
    throw new Exit(code | 0);
  }

  proc_raise() {
    return CODES.nosys;
  }

  /**
   * Waits for the first clock, or not at all where descriptors are asked about: they
   * are files, which are always ready.
   */
  poll_oneoff(subscriptionsAt, eventsAt, count, resultAt) {
    if (count === 0) return CODES.inval;
    const view = this.#memory.view();
    const all = Array.from({ length: count }, (_, index) => {
      const at = (subscriptionsAt >>> 0) + index * SUBSCRIPTION_BYTES;
      return { user: view.getBigUint64(at, true), kind: view.getUint8(at + 8), at };
    });
    let ready = all.filter((one) => one.kind !== SUBSCRIBED_CLOCK).map((one) => [one, CODES.success]);
    if (ready.length === 0) ready = [this.#sleep(view, all)];
    ready.forEach(([one, code], index) => {
      const at = (eventsAt >>> 0) + index * EVENT_BYTES;
      this.#memory.bytes(at, EVENT_BYTES).fill(0);
      view.setBigUint64(at, one.user, true);
      view.setUint16(at + 8, code, true);
      view.setUint8(at + 10, one.kind);
    });
    this.#memory.u32(resultAt, ready.length);
    return CODES.success;
  }

  /** Sleeps until the first of the clocks; returns its subscription and what it came to. */
  #sleep(view, all) {
    const waits = all.map((one) => {
      const clock = view.getUint32(one.at + 16, true);
      const time = new BigInt64Array(2);
      const status = clock < CLOCKS ? this.#sys(CLOCK_GETTIME, clock, time) : -1;
      const current = time[0] * NS + time[1];
      const timeout = view.getBigUint64(one.at + 24, true);
      const isAbsolute = (view.getUint16(one.at + 40, true) & ABSOLUTE) !== 0;
      const end = isAbsolute ? timeout : current + timeout;
      return { one, clock, end, left: end - current, bad: status !== 0 };
    });
    const bad = waits.find((wait) => wait.bad);
    if (bad) return [bad.one, CODES.inval];
    const first = waits.reduce((least, wait) => (wait.left < least.left ? wait : least));
    const until = BigInt64Array.of(first.end / NS, first.end % NS);
    // Linux cannot sleep by a thread's clock; the guest learns it.
    const status = first.left > 0n ? this.#sys(CLOCK_NANOSLEEP, first.clock, TIMER_ABSTIME, until, 0) : 0;
    // Unlike other calls this one is told by a positive number in POSIX, not by the kernel.
    return [first.one, linuxCode(status)];
  }
}
