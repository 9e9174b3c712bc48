// Costs: wall time and processor time of a piece of work, by the host's clocks.

/** Runs `work` and returns its value and its cost by the wall and by `cpu` ("threadCpu", "processCpu"). */
export function timed(host, cpu, work) {
  const cpuBefore = host[cpu]();
  const before = host.now();
  const value = work();
  const after = host.now();
  const cpuAfter = host[cpu]();
  const cost = { wall_ns: Number(after - before) };
  if (cpuBefore !== null && cpuAfter !== null) {
    cost.cpu_ns = Math.max(0, Number(cpuAfter - cpuBefore) - readingCost(host, cpu));
  }
  return [value, cost];
}

const readingCosts = new Map();

/**
 * What reading a CPU clock itself adds to an interval: a system call or two, much
 * next to a short phase. The least of many empty intervals, found once a thread.
 */
function readingCost(host, cpu) {
  if (!readingCosts.has(cpu)) {
    let least = Infinity;
    for (let round = 0; round < 30; round++) {
      const before = host[cpu]();
      host.now();
      host.now();
      least = Math.min(least, Number(host[cpu]() - before));
    }
    readingCosts.set(cpu, least);
  }
  return readingCosts.get(cpu);
}
