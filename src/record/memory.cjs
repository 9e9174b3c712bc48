// What changes in a memory while the guest does not run, and while it does: found by
// comparing it with a copy.
//
// Looking at memories costs more than all the rest, and most of one is never written. So after a while what
// was never written, nor spoken of by an address that was passed, is looked at now and then only: a write of the
// host's far from all others may be found late, and `fathom record` finds that out by replaying what was
// recorded. What is found late of the guest's does no harm: it is there already when it is written again.
// When that has taken as long, only what was written or spoken of lately is looked at: programs that call
// their host a hundred thousand times while they start have megabytes that were written once. A page in
// which a write of the host may have been missed is then not in the hash of the end.
'use strict';

const environment = require('./environment.cjs');

/** What memories grow by. */
const UNIT = 1 << 16;
const BLOCK = 1 << 14;
const PAGE = 1 << 12;
/** Bytes that stay the same between two that change, and still are one write. */
const GAP = 12;
/** Blocks behind one that are looked at, too; behind one of lately. */
const AHEAD = 16;
const AHEAD_LATELY = 1;
/** All of a memory is until so many bytes were looked at; from then on every so often. */
const WHOLE_BYTES = { auto: environment.comparedSoon, near: 0, lately: 0, all: Infinity }[environment.compare];
const WHOLE_EVERY = 128;
/** What was ever written is until so many were; from then on all is, by guest and host, as often as takes a third of the time. */
const NEAR_BYTES = { auto: 2 * environment.comparedSoon, near: Infinity, lately: 0, all: Infinity }[environment.compare];
const WHOLE_SHARE = 4;
/** For how many turns a block is of lately: one of the guest's or one spoken of, and one of the host's. */
const LATELY = { guest: 8, host: 512 };
/** Words at an address that are taken for addresses themselves: Go passes the address of its arguments. */
const WORDS = 8;
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
    /** Until which turn a block is one of lately. */
    this.lately = new Map();
    this.turns = 0;
    /** Bytes that were looked at, and since all of it was; whether all is in this turn. */
    this.compared = 0;
    this.sinceWhole = 0;
    this.isWhole = true;
    /** Blocks that were looked at when the guest had run last, and the host, where that was those of lately. */
    this.lookedOfGuest = undefined;
    this.lookedOfHost = undefined;
    /** Pages of 4 KiB that the guest has written. */
    this.dirty = new Set();
    /** Those of which nobody knows what the host has written: it was not looked there when it had run. */
    this.unknown = new Set();
    this.pages(true, LATELY.guest, () => {});
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
   * afterwards: of all, or of those near what was ever written or spoken of, or was lately. A block that
   * differs is of lately for `turns`. Returns the blocks that were looked at, where that was those of lately.
   */
  pages(isWhole, turns, each) {
    const count = this.bytes / BLOCK;
    const isLate = !isWhole && this.compared >= NEAR_BYTES;
    const ahead = isLate ? AHEAD_LATELY : AHEAD;
    const looked = isLate ? new Set() : undefined;
    let [next, blocks] = [0, 0];
    for (const first of isWhole ? [0] : isLate ? this.late() : this.blocks()) {
      for (let last = Math.min(first + (isWhole ? count : ahead), count - 1), number = Math.max(first, next); number <= last; number += 1) {
        looked?.add(number);
        if (this.block(number, each)) {
          this.touched(number, turns);
          last = Math.max(last, Math.min(number + ahead, count - 1));
        }
        next = number + 1;
        blocks += 1;
      }
    }
    this.compared += blocks * BLOCK;
    this.sinceWhole = isWhole ? 0 : this.sinceWhole + blocks * BLOCK;
    return looked;
  }

  blocks() {
    if (this.ordered.length < this.known.size) this.ordered = [...this.known].sort((one, other) => one - other);
    return this.ordered;
  }

  /** The blocks of lately, in order. */
  late() {
    for (const [number, until] of this.lately) if (until < this.turns) this.lately.delete(number);
    return [...this.lately.keys()].sort((one, other) => one - other);
  }

  touched(number, turns) {
    this.known.add(number);
    const until = this.turns + turns;
    if (!(this.lately.get(number) >= until)) this.lately.set(number, until);
  }

  /** Whether all of it is looked at when the guest has run now, and so when the host has run next. */
  isDue() {
    if (this.compared < WHOLE_BYTES) return true;
    return this.compared < NEAR_BYTES ? this.turns % WHOLE_EVERY === 0 : this.sinceWhole > WHOLE_SHARE * this.bytes;
  }

  /**
   * A number passed between guest and host that could be an address: whoever has it may write there, or
   * where the words there say, as a list of buffers does.
   */
  mention(value) {
    this.named(value);
    if (this.compared < NEAR_BYTES || value < 0 || value + 4 * WORDS > this.bytes) return;
    const { now } = this;
    for (let at = value; at < value + 4 * WORDS; at += 4) {
      this.named(now[at] + (now[at + 1] << 8) + (now[at + 2] << 16) + now[at + 3] * 2 ** 24);
    }
  }

  named(address) {
    if (address >= 0 && address < this.bytes) this.touched(Math.floor(address / BLOCK), LATELY.guest);
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
    this.turns += 1;
    this.isWhole = this.isDue();
    this.lookedOfGuest = this.pages(this.isWhole, LATELY.guest, (start) => {
      const isKnown = this.lookedOfHost?.has(Math.floor(start / BLOCK)) ?? true;
      (isKnown ? this.dirty : this.unknown).add(start);
    });
  }

  /** After the host ran: what it wrote and by how much it grew the memory goes to the stream. */
  hostRan(stream) {
    const grown = this.look();
    if (grown > 0) {
      stream.event('growMemory');
      stream.number(this.index);
      stream.number(grown / UNIT);
    }
    this.lookedOfHost = this.pages(this.isWhole, LATELY.host, (start, end, then) => this.write(stream, start, end, then));
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
    this.pages(true, LATELY.guest, (start, end, then) => this.write(stream, start, end, then));
  }

  /** Calls `each` of every word of a range, as the guest left it. */
  words(start, end, each) {
    for (let at = start; at < end; at += PAGE) {
      const block = this.then[Math.floor(at / BLOCK)] ?? ZEROS;
      const page = new DataView(block.buffer, block.byteOffset + (at % BLOCK), PAGE);
      for (let word = 0; word < PAGE; word += 4) each(page.getInt32(word, true));
    }
  }

  /**
   * The ranges of pages that the guest has written, as it left them. Of what was not looked at then it is
   * what has not changed since.
   */
  ranges() {
    const ranges = [];
    this.look();
    const isKnown = (page) => {
      if (this.unknown.has(page)) return false;
      const block = Math.floor(page / BLOCK);
      if (this.lookedOfGuest?.has(block) ?? true) return true;
      return environment.isSame(this.now, page, this.then[block] ?? ZEROS, page % BLOCK, PAGE);
    };
    for (const page of [...this.dirty].filter(isKnown).sort((one, other) => one - other)) {
      const last = ranges.at(-1);
      const end = page + PAGE;
      if (last !== undefined && last.end === page) last.end = end;
      else ranges.push({ start: page, end });
    }
    return ranges;
  }
};
