// What the measured threads share: two counters in shared memory.
//
// A thread passes the gate when every thread has warmed up, and goes on with
// uncounted iterations until every thread has its counted ones: each counted
// iteration then meets the same company.

const WARM = 0;
const FINISHED = 1;

export class Gate {
  #counters;
  #threads;

  constructor(shared, threads) {
    this.#counters = new Int32Array(shared);
    this.#threads = threads;
  }

  static memory() {
    return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Says that this thread is warm and waits until all are. */
  waitUntilAllAreWarm() {
    Atomics.add(this.#counters, WARM, 1);
    Atomics.notify(this.#counters, WARM);
    for (let warm; (warm = Atomics.load(this.#counters, WARM)) < this.#threads;) {
      Atomics.wait(this.#counters, WARM, warm);
    }
  }

  /** Says that this thread has its counted iterations. */
  finish() {
    Atomics.add(this.#counters, FINISHED, 1);
  }

  allHaveFinished() {
    return Atomics.load(this.#counters, FINISHED) >= this.#threads;
  }
}
