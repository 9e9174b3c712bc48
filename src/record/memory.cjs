// What changes in a memory while the guest does not run, and while it does: found by
// comparing it with a copy.
//
// Looking at memories costs more than all the rest, and most of one is never written. So after a while what
// was never written, nor spoken of by an address that was passed, is looked at now and then only: a write of the
// host's far from all others may be found late, and `fathom record` finds that out by replaying what was
// recorded. What is found late of the guest's does no harm: it is there already when it is written again.
'use strict';

const environment = require('./environment.cjs');

/** What memories grow by. */
const UNIT = 1 << 16;
const BLOCK = 1 << 14;
const PAGE = 1 << 12;
/** Bytes that stay the same between two that change, and still are one write. */
const GAP = 12;
/** Blocks behind one that are looked at, too. */
const AHEAD = 16;
/** All of a memory is until so many bytes were looked at, some seconds; from then on every so often. */
const WHOLE_BYTES = { auto: environment.secondsOfBytes, near: 0, all: Infinity }[environment.compare];
const WHOLE_EVERY = 128;
const ZEROS = environment.zeros(BLOCK);

const bufferOf = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, 'buffer').get;

exports.Watched = class Watched {
  constructor(memory, index) {
    this.memory = memory;
    this.index = index;
    this.now = environment.view(bufferOf.call(memory));
    this.bytes = this.now.length;
    /** The copy, in blocks; none for one that is all zeros, as most are. */
    this.then = [];
    /** Blocks that were written or spoken of, in order where nothing came since. */
    this.known = new Set();
    this.ordered = [];
    this.turns = 0;
    this.compared = 0;
    /** Pages of 4 KiB that the guest has written. */
    this.dirty = new Set();
    this.pages(true, () => {});
  }

  /** The memory as it is; by how many bytes it has grown. */
  look() {
    const buffer = bufferOf.call(this.memory);
    if (this.now.buffer === buffer) return 0;
    // What was looked at before has no length any more.
    const before = this.bytes;
    this.now = environment.view(buffer);
    this.bytes = this.now.length;
    return this.bytes - before;
  }

  /**
   * Calls `each(start, end, then)` of every page that differs from the copy, which it is made equal to
   * afterwards: of all, or of those near what was ever written or spoken of.
   */
  pages(isWhole, each) {
    const count = this.bytes / BLOCK;
    const behind = isWhole ? count : AHEAD;
    let next = 0;
    for (const first of isWhole ? [0] : this.blocks()) {
      for (let last = Math.min(first + behind, count - 1), number = Math.max(first, next); number <= last; number += 1) {
        if (this.block(number, each)) last = Math.max(last, Math.min(number + AHEAD, count - 1));
        next = number + 1;
      }
    }
    if (isWhole) this.compared += this.bytes;
  }

  blocks() {
    if (this.ordered.length < this.known.size) this.ordered = [...this.known].sort((one, other) => one - other);
    return this.ordered;
  }

  /** Whether all of it is looked at when the guest has run now, and so when the host has run next. */
  isWhole() {
    return this.compared < WHOLE_BYTES || this.turns % WHOLE_EVERY === 0;
  }

  /** A number passed between guest and host that could be an address: whoever has it may write there. */
  mention(value) {
    if (value >= 0 && value < this.bytes) this.known.add(Math.floor(value / BLOCK));
  }

  /** The same of one block; whether it differs. */
  block(number, each) {
    const { now } = this;
    const base = number * BLOCK;
    const then = this.then[number] ?? ZEROS;
    if (environment.isSame(now, base, then, 0, BLOCK)) return false;
    this.known.add(number);
    const own = then === ZEROS ? environment.zeros(BLOCK) : then;
    this.then[number] = own;
    for (let page = 0; page < BLOCK; page += PAGE) {
      const start = base + page;
      if (environment.isSame(now, start, own, page, PAGE)) continue;
      each(start, start + PAGE, own);
      own.set(now.subarray(start, start + PAGE), page);
    }
    return true;
  }

  /** After the guest ran. */
  guestRan() {
    this.look();
    this.turns += 1;
    this.pages(this.isWhole(), (start) => this.dirty.add(start));
  }

  /** After the host ran: what it wrote and by how much it grew the memory goes to the stream. */
  hostRan(stream) {
    const grown = this.look();
    if (grown > 0) {
      stream.event('growMemory');
      stream.number(this.index);
      stream.number(grown / UNIT);
    }
    this.pages(this.isWhole(), (start, end, then) => this.write(stream, start, end, then));
  }

  /** The runs of a page that differ from the copy of its block. */
  write(stream, start, end, then) {
    const { now } = this;
    const base = start - (start % BLOCK);
    const differs = (at) => now[at] !== then[at - base];
    for (let at = start; at < end; at += 1) {
      if (!differs(at)) continue;
      let last = at;
      for (let next = at + 1; next < end && next - last <= GAP; next += 1) if (differs(next)) last = next;
      this.emit(stream, at, last + 1);
      at = last + 1;
    }
  }

  emit(stream, start, end) {
    stream.event('write');
    stream.number(this.index);
    stream.number(start);
    stream.number(end - start);
    for (let at = start; at < end; at += 1) {
      stream.bytes[stream.at++] = this.now[at];
      if (stream.at > 1 << 20) stream.flush();
    }
  }

  /** All that is not zero, in front of everything. */
  image(stream) {
    this.then = [];
    this.pages(true, (start, end, then) => this.write(stream, start, end, then));
  }

  /** Calls `each` of every word of a range, as the guest left it. */
  words(start, end, each) {
    for (let at = start; at < end; at += PAGE) {
      const block = this.then[Math.floor(at / BLOCK)] ?? ZEROS;
      const page = new DataView(block.buffer, block.byteOffset + (at % BLOCK), PAGE);
      for (let word = 0; word < PAGE; word += 4) each(page.getInt32(word, true));
    }
  }

  /** The ranges of pages that the guest has written, as it left them. */
  ranges() {
    const ranges = [];
    for (const page of [...this.dirty].sort((one, other) => one - other)) {
      const last = ranges.at(-1);
      const end = page + PAGE;
      if (last !== undefined && last.end === page) last.end = end;
      else ranges.push({ start: page, end });
    }
    return ranges;
  }
};
