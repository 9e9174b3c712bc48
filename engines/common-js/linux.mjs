// Clocks, pinning and a second start through Linux's system calls, for hosts that
// can make them. `sys(number, ...)` is the host's: it takes numbers and typed arrays
// (for the address of their bytes) and returns what the kernel does, -errno included.

const WRITE = 1;
const LSEEK = 8;
const DUP2 = 33;
const EXECVE = 59;
const FCNTL = 72;
const SCHED_SETAFFINITY = 203;
const CLOCK_GETTIME = 228;
const MEMFD_CREATE = 319;

const CLOCKS = { now: 1, processCpu: 2, threadCpu: 3 };

const EINVAL = 22;
const F_SETFD = 2;

/** A text as bytes that end with 0. */
const textOf = (text) => new TextEncoder().encode(`${text}\0`);

/** The clocks {now, processCpu, threadCpu}: nanoseconds as a BigInt. */
export function clocksOf(sys) {
  const time = new BigInt64Array(2);
  const read = (clock) => () => {
    sys(CLOCK_GETTIME, clock, time);
    return time[0] * 1_000_000_000n + time[1];
  };
  return Object.fromEntries(Object.entries(CLOCKS).map(([name, clock]) => [name, read(clock)]));
}

/** Pins the calling thread to a CPU; returns why it could not, or null. */
export function pinTo(sys, cpu) {
  const mask = new BigUint64Array(128);
  if (cpu >= mask.length * 64) return 'there is no such CPU';
  mask[Math.floor(cpu / 64)] = 1n << BigInt(cpu % 64);
  const status = sys(SCHED_SETAFFINITY, 0, mask.byteLength, mask);
  if (status === -EINVAL) return 'this process may not use it';
  return status < 0 ? `errno ${-status}` : null;
}

/**
 * Becomes another program that finds `input` on its standard input and `kept` open:
 * engines read their switches before the first line of ours runs. Returns only where
 * that failed.
 */
export function startAgain(sys, addressOf, command, environment, input, kept) {
  const bytes = new TextEncoder().encode(input);
  const stdin = sys(MEMFD_CREATE, textOf('request'), 0);
  for (let at = 0; at < bytes.length;) {
    const written = sys(WRITE, stdin, bytes.subarray(at), bytes.length - at);
    if (written < 0) return;
    at += written;
  }
  sys(LSEEK, stdin, 0, 0);
  sys(DUP2, stdin, 0);
  // Bun marks what it finds open to be closed.
  sys(FCNTL, kept, F_SETFD, 0);
  const words = command.map(textOf);
  const variables = Object.entries(environment).map(([name, value]) => textOf(`${name}=${value}`));
  const list = (texts) => BigUint64Array.from([...texts.map((text) => BigInt(addressOf(text))), 0n]);
  sys(EXECVE, words[0], list(words), list(variables));
}
