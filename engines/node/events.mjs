// The runner's side of the protocol: one JSON event a line, written to the
// descriptor the parent named. Standard output and error stay free for noise.

import fs from 'node:fs';

const descriptor = Number(process.env.FATHOM_EVENTS_FD ?? '');

/** Whether the parent told us where events go. */
export const eventsGoSomewhere = Number.isInteger(descriptor) && descriptor > 0;

/** Writes all of `bytes`; a parent that has gone ends the process quietly. */
function writeAll(bytes) {
  for (let written = 0; written < bytes.length;) {
    try {
      written += fs.writeSync(descriptor, bytes, written);
    } catch (error) {
      if (error.code === 'EAGAIN') continue;
      process.exit(1);
    }
  }
}

/**
 * Sends one event. A line shorter than a pipe's atomic write (4096 bytes) is
 * never torn by another thread's, so workers may send without a lock.
 */
export function send(event) {
  writeAll(Buffer.from(JSON.stringify(event) + '\n'));
}

/** Sends many events with few system calls. Only for one thread at a time. */
export class Batch {
  #lines = [];

  add(event) {
    this.#lines.push(JSON.stringify(event));
    if (this.#lines.length >= 512) this.flush();
  }

  flush() {
    if (this.#lines.length > 0) writeAll(Buffer.from(this.#lines.join('\n') + '\n'));
    this.#lines = [];
  }
}

/** A failure with the protocol's kind: invalid, unsupported, link, trap, io or internal. */
export class Failure extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/** The event that reports `error`, whatever it is. */
export function errorEvent(error) {
  const kind = error instanceof Failure ? error.kind : 'internal';
  const message = String(error?.message ?? error).split('\n')[0].slice(0, 1000);
  return { event: 'error', kind, message };
}
