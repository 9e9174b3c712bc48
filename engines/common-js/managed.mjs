// Modules with structures or arrays, and what collecting those took.

const TYPE_SECTION = 1;
const FUNCTION_TYPE = 0x60;
// A reference to a type that is named behind it.
const NAMED_REFERENCES = [0x63, 0x64];

/** Numbers of a module's bytes, one after the other. */
class Reader {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** In LEB128, of which only those below 2^31 are wanted. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80 || byte === undefined) return value;
    }
  }

  skipTypes() {
    for (let left = this.number(); left > 0; left--) {
      if (NAMED_REFERENCES.includes(this.byte())) this.number();
    }
  }
}

/** Whether a valid module has a type that is no plain function's (core specification 3.0, §5.3). */
export function isManaged(bytes) {
  const reader = new Reader(bytes, 8);
  while (reader.at < bytes.length) {
    const [section, length] = [reader.byte(), reader.number()];
    if (section > TYPE_SECTION) return false;
    if (section < TYPE_SECTION) {
      reader.at += length;
      continue;
    }
    for (let left = reader.number(); left > 0; left--) {
      if (reader.byte() !== FUNCTION_TYPE) return true;
      reader.skipTypes();
      reader.skipTypes();
    }
    return false;
  }
  return false;
}

/** Metrics of the protocol, of the pauses of all threads in nanoseconds and of what they ran. */
export function metricsOf(watched) {
  const pauses = watched.flatMap((one) => one.pauses).sort((one, other) => one - other);
  const iterations = watched.reduce((sum, one) => sum + one.iterations, 0);
  const each = (sum) => Math.round(sum / iterations);
  const metrics = { collections: each(pauses.length), paused_ns: each(pauses.reduce((sum, one) => sum + one, 0)) };
  if (pauses.length > 0) metrics.pause_p99_ns = Math.round(pauses[Math.ceil(pauses.length * 0.99) - 1]);
  return metrics;
}
