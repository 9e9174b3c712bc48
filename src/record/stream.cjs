// The events of one instance, as bytes: crates/replay/src/record/event.rs says what they are.
'use strict';

const environment = require('./environment.cjs');

const CHUNK = 1 << 20;
/** More than this is no record that can be replayed. */
const BYTES_MAX = 2 ** 30;

const TAGS = {
  write: 1, growMemory: 2, setElement: 3, growTable: 4, setGlobal: 5, call: 6, return: 7, throw: 8,
  begin: 9, imported: 16, returned: 17, trapped: 18, threw: 19, end: 20,
};

/** Two halves of a float or of 64 bits. */
const scratch = new DataView(new ArrayBuffer(8));

exports.Stream = class Stream {
  constructor(name) {
    this.file = environment.create(name);
    this.bytes = new Uint8Array(CHUNK + 64);
    this.at = 0;
    this.written = 0;
    this.events = 0;
    this.hash = 0;
    this.isFull = false;
  }

  event(name) {
    if (this.at > CHUNK) this.flush();
    this.events += 1;
    this.bytes[this.at++] = TAGS[name];
  }

  flush() {
    this.put(this.bytes.subarray(0, this.at));
    this.at = 0;
  }

  put(bytes) {
    this.written += bytes.length;
    this.isFull ||= this.written > BYTES_MAX;
    if (!this.isFull) this.file.write(bytes);
  }

  close() {
    this.flush();
    this.file.close();
  }

  /** A number that is no more than 2^53, in LEB128. */
  number(value) {
    if (this.at > CHUNK) this.flush();
    for (; value >= 128; value = Math.floor(value / 128)) this.bytes[this.at++] = (value % 128) | 128;
    this.bytes[this.at++] = value;
  }

  /** 64 bits in two halves, in LEB128. */
  wide(low, high) {
    if (this.at > CHUNK) this.flush();
    while (high !== 0 || low > 127) {
      this.bytes[this.at++] = (low & 127) | 128;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.bytes[this.at++] = low;
  }

  raw(bytes) {
    this.flush();
    this.put(bytes);
  }

  /** A value that goes to the guest. `code` is the number of a reference. */
  value(type, value, code) {
    switch (type) {
      case 'i32':
        return this.wide(value >>> 0, 0);
      case 'f32':
        scratch.setFloat32(0, value, true);
        return this.wide(scratch.getUint32(0, true), 0);
      case 'f64':
        scratch.setFloat64(0, value, true);
        break;
      case 'i64':
        scratch.setBigInt64(0, value, true);
        break;
      default:
        return this.number(code);
    }
    return this.wide(scratch.getUint32(0, true), scratch.getUint32(4, true));
  }

  /** Takes 32 bits that the guest passed into the hash. */
  mix(word) {
    const mixed = Math.imul(this.hash ^ word, 0x9e3779b1);
    this.hash = mixed ^ (mixed >>> 15);
  }

  /** Takes a value that the guest passed into the hash; of a reference, whether there is one. */
  mixValue(type, value) {
    switch (type) {
      case 'i32':
        return this.mix(value);
      case 'f32':
        scratch.setFloat32(0, value, true);
        return this.mix(Number.isNaN(value) ? 0x7fc00000 : scratch.getInt32(0, true));
      case 'f64':
        scratch.setFloat64(0, Number.isNaN(value) ? NaN : value, true);
        if (Number.isNaN(value)) scratch.setBigUint64(0, 0x7ff8000000000000n, true);
        break;
      case 'i64':
        scratch.setBigInt64(0, value, true);
        break;
      default:
        return this.mix(value === null ? 0 : 1);
    }
    this.mix(scratch.getInt32(0, true));
    this.mix(scratch.getInt32(4, true));
    return undefined;
  }
};
