// How an engine checks bounds, proved by what a fault does: in a process of its own
// (startProof in each host) faults are given back to the kernel, then one load goes
// outside a memory. An engine that lives by faults dies of it; one that compares traps.

const RT_SIGACTION = 13;
const SETRLIMIT = 160;
const RLIMIT_CORE = 4;
const SIGBUS = 7;
const SIGSEGV = 11;
const SIGSET_BYTES = 8;

// (module (memory 1) (func (export "load") (param i32) (result i32)
//   local.get 0  i32.load))
export const TINY = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  7, 8, 1, 4, 0x6c, 0x6f, 0x61, 0x64, 0, 0, 10, 9, 1, 7, 0, 0x20, 0, 0x28, 2, 0, 0x0b,
]);
const OUTSIDE = 0x20000;
// Enough for every compiler that starts when a function is entered often.
const CALLS = 20_000;

/** The process that may die: says through `print` that it did not. */
export function risk(sys, print) {
  const { load } = new WebAssembly.Instance(new WebAssembly.Module(TINY)).exports;
  for (let call = 0; call < CALLS; call++) load(0);
  const usual = new Uint8Array(32);
  for (const signal of [SIGBUS, SIGSEGV]) sys(RT_SIGACTION, signal, usual, 0, SIGSET_BYTES);
  sys(SETRLIMIT, RLIMIT_CORE, new BigUint64Array(2));
  try {
    load(OUTSIDE);
    print('fathom: went through');
  } catch (error) {
    print(error instanceof WebAssembly.RuntimeError ? 'fathom: trapped' : `fathom: ${error}`);
  }
}

/** What became of it: the kind of check and how we know. `died` is its signal's name or null. */
export function checksProved({ died, printed }) {
  if (died === 'SIGSEGV' || died === 'SIGBUS') {
    return ['guard pages', `with faults given back to the kernel a load outside the memory ended a process by ${died}`];
  }
  if (printed.includes('fathom: trapped')) {
    return ['explicit', 'with faults given back to the kernel a load outside the memory still trapped'];
  }
  if (printed.includes('fathom: went through')) return ['none', 'an access outside a memory did not trap'];
  return ['unknown', 'the process that was to show it ended otherwise'];
}
