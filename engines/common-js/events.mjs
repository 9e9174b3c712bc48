// The runner's side of the protocol: one JSON event a line, written to the
// descriptor the parent named. Standard output and error stay free for noise.

/** Sends one event. Lines shorter than a pipe's atomic write (4096 bytes) of several threads are never torn. */
export function send(host, event) {
  host.writeEvents(JSON.stringify(event) + '\n');
}

/** Sends many events with few system calls. Only for one thread at a time. */
export class Batch {
  #host;
  #lines = [];

  constructor(host) {
    this.#host = host;
  }

  add(event) {
    this.#lines.push(JSON.stringify(event));
    if (this.#lines.length >= 512) this.flush();
  }

  flush() {
    if (this.#lines.length > 0) this.#host.writeEvents(this.#lines.join('\n') + '\n');
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
