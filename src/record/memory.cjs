// What changes in a memory while the guest does not run, and while it does: found by
// comparing it with a copy.
//
// Most of a memory is never written, and looking at it costs more than all the rest. So after a while, what
// was never written, nor spoken of by an address that was passed, is looked at now and then only: a write of the host's far from all others may be found late, and
// `fathom record` finds that out by replaying what was recorded. What is found late of the guest's does no
// harm: it is there already when it is written again.
'use strict';

const environment = require('./environment.cjs');

const BLOCK = 1 << 16;
const PAGE = 1 << 12;
/** Bytes that stay the same between two that change, and still are one write. */
const GAP = 12;
/** Blocks behind one that was written that are looked at, too. */
const AHEAD = 4;
/** All of a memory is until so many bytes were looked at, some seconds; from then on every so often. */
const WHOLE_BYTES = { auto: 2 ** 35, near: 0, all: Infinity }[environment.compare];
const WHOLE_EVERY = 64;
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
    this.looks = 0;
    this.compared = 0;
    /** Pages of 4 KiB that the guest has written. */
    this.dirty = new Set();
    this.pages(() => {});
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
   * afterwards. Looked at is all of it, until that has taken long; then the blocks that were ever written or
   * spoken of and some behind each, and now and then all.
   */
  pages(each) {
    this.looks += 1;
    const isWhole = this.compared < WHOLE_BYTES || this.looks % WHOLE_EVERY === 1;
    if (isWhole) this.compared += this.bytes;
    let left = 0;
    for (let number = 0; number < this.bytes / BLOCK; number += 1) {
      const isKnown = this.then[number] !== undefined;
      left = isKnown ? AHEAD : left - 1;
      if ((isKnown || isWhole || left >= 0) && this.block(number, each)) left = AHEAD;
    }
  }

  /** A number passed between guest and host that could be an address: whoever has it may write there. */
  mention(value) {
    const number = Math.floor(value / BLOCK);
    if (value >= 0 && value < this.bytes) this.then[number] ??= environment.zeros(BLOCK);
  }

  /** The same of one block; whether it differs. */
  block(number, each) {
    const { now } = this;
    const base = number * BLOCK;
    const then = this.then[number] ?? ZEROS;
    if (environment.isSame(now, base, then, 0, BLOCK)) return false;
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
    this.pages((start) => this.dirty.add(start));
  }

  /** After the host ran: what it wrote and by how much it grew the memory goes to the stream. */
  hostRan(stream) {
    const grown = this.look();
    if (grown > 0) {
      stream.event('growMemory');
      stream.number(this.index);
      stream.number(grown / BLOCK);
    }
    this.pages((start, end, then) => this.write(stream, start, end, then));
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
    this.pages((start, end, then) => this.write(stream, start, end, then));
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
