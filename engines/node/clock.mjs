// Clocks: wall time from the monotonic clock, a thread's processor time from the
// scheduler. Node 20 has no per-thread CPU clock, but Linux shows one as the first
// number of /proc/thread-self/schedstat (nanoseconds on a CPU; proc(5)).

import fs from 'node:fs';

const nap = new Int32Array(new SharedArrayBuffer(4));

/** Nanoseconds of the monotonic clock, as a BigInt. */
export const now = process.hrtime.bigint;

/**
 * Nanoseconds this thread has spent on a CPU, or null where the kernel does not
 * say. The kernel brings the number up to date when the thread leaves the CPU,
 * so it sleeps for a moment first: outside of every timed window.
 */
export function threadCpu() {
  Atomics.wait(nap, 0, 0, 0.01);
  try {
    return BigInt(fs.readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
  } catch {
    return null;
  }
}

/** Nanoseconds all threads of this process have spent on a CPU (to a microsecond). */
export function processCpu() {
  const { user, system } = process.cpuUsage();
  return BigInt(user + system) * 1000n;
}

/** Runs `work` and returns its value and its cost by the wall and by `cpu`. */
export function timed(cpu, work) {
  const cpuBefore = cpu();
  const before = now();
  const value = work();
  const after = now();
  const cpuAfter = cpu();
  const cost = { wall_ns: Number(after - before) };
  if (cpuBefore !== null && cpuAfter !== null) {
    cost.cpu_ns = Math.max(0, Number(cpuAfter - cpuBefore) - readingCost(cpu));
  }
  return [value, cost];
}

const readingCosts = new Map();

/**
 * What reading a CPU clock itself adds to an interval: a system call or two, much
 * next to a short phase. The least of many empty intervals, found once a thread.
 */
function readingCost(cpu) {
  if (!readingCosts.has(cpu)) {
    let least = Infinity;
    for (let round = 0; round < 30; round++) {
      const before = cpu();
      now();
      now();
      least = Math.min(least, Number(cpu() - before));
    }
    readingCosts.set(cpu, least);
  }
  return readingCosts.get(cpu);
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
