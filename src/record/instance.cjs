// One instance that is recorded: what goes to the guest and comes back.
//
//   host ─ call ─► guest ─ imported ─► host        at each arrow, whoever ran is looked at:
//        ◄ returned ─     ◄─ return ─              the host for what it changed, the guest
//                                                  for what it passed and where it wrote
'use strict';

const environment = require('./environment.cjs');
const { typeOf } = require('./shape.cjs');
const { Watched } = require('./memory.cjs');
const tables = require('./tables.cjs');

const IMPORTED = 16;
const RETURNED = 17;
/** The program may have another one later. */
const clock = performance.now.bind(performance);
const valueOf = Object.getOwnPropertyDescriptor(WebAssembly.Global.prototype, 'value').get;

/** What of a signature can pass between JavaScript and a record. */
const PLAIN = new Set(['i32', 'i64', 'f32', 'f64', 'func', 'extern']);
exports.isPlain = (type) => [...type.params, ...type.results].every((value) => PLAIN.has(value));

/** What the engine makes of a value that JavaScript gives it (ToWebAssemblyValue). */
function coerced(type, value) {
  switch (type) {
    case 'i32':
      return value | 0;
    case 'i64':
      return BigInt.asIntN(64, value);
    case 'f32':
      return Math.fround(value);
    case 'f64':
      return +value;
    case 'func':
      return tables.unwrapped(value);
    default:
      return value;
  }
}

function sameValue(type, one, other) {
  return type === 'i64' ? one === other : Object.is(one, other);
}

exports.Instance = class Instance {
  constructor(shape, stream) {
    this.shape = shape;
    this.stream = stream;
    this.memories = [];
    this.globals = [];
    /** Types of functions of the host that came into its tables. */
    this.functions = [];
    this.isOver = false;
    this.thrown = undefined;
    this.lost = new Set();
    this.guestMs = 0;
    this.since = 0;
    this.calls = 0;
  }

  /** An imported or exported memory, from now on. */
  watchMemory(memory, index) {
    if (this.memories.some((watched) => watched.index === index)) return undefined;
    const watched = new Watched(memory, index);
    this.memories.push(watched);
    this.memories.sort((one, other) => one.index - other.index);
    return watched;
  }

  watchGlobal(global, index) {
    const { type, isMutable } = this.shape.globals[index];
    if (!isMutable || this.globals.some((watched) => watched.index === index)) return;
    if (type !== 'func' && type !== 'extern' && PLAIN.has(type)) {
      this.globals.push({ global, index, type, then: valueOf.call(global) });
    } else {
      this.lost.add(`what the host does with global ${index}, a reference or a vector`);
    }
  }

  /** The host ran, and passes values: what it changed, where they may be addresses too, is written down. */
  toGuest(types = [], passed = []) {
    this.mention(types, passed);
    for (const watched of this.memories) watched.hostRan(this.stream);
    for (const watched of this.globals) {
      const now = valueOf.call(watched.global);
      if (sameValue(watched.type, now, watched.then)) continue;
      watched.then = now;
      this.stream.event('setGlobal');
      this.stream.number(watched.index);
      this.stream.value(watched.type, now);
    }
    if (this.stream.isFull) this.isOver = true;
    this.since = clock();
    environment.ran(this.since);
  }

  /** The guest ran, and passed values: what is so now, where they may be addresses too, is no doing of the host. */
  fromGuest(types = [], passed = []) {
    const now = clock();
    environment.ran(now);
    this.guestMs += now - this.since;
    for (const watched of this.memories) watched.look();
    this.mention(types, passed);
    for (const watched of this.memories) watched.guestRan();
    for (const watched of this.globals) watched.then = valueOf.call(watched.global);
  }

  values(types, values) {
    this.stream.number(types.length);
    this.mention(types, values);
    types.forEach((type, place) => {
      const code = type === 'func' || type === 'extern' ? this.code(type, values[place]) : 0;
      this.stream.value(type, values[place], code);
    });
  }

  /** The number of a reference. */
  code(type, value) {
    if (value === null || (type === 'func' && value === undefined)) return 0;
    return type === 'func' ? 2 + tables.indexOf(this, value) : 1;
  }

  /** What could be an address. */
  mention(types, values) {
    for (const watched of this.memories) {
      types.forEach((type, place) => {
        if (type === 'i32') watched.mention(values[place] >>> 0);
        else if (type === 'i64') watched.mention(Number(BigInt.asUintN(64, values[place])));
      });
    }
  }

  mix(types, values) {
    types.forEach((type, place) => this.stream.mixValue(type, values[place]));
  }

  /** A function of the guest, as the host may call it. */
  called(index, real) {
    const type = typeOf(this.shape, index);
    const instance = this;
    return function guest(...args) {
      if (instance.isOver) return real(...args.map((arg) => tables.unwrapped(arg)));
      const values = type.params.map((param, place) => coerced(param, args[place]));
      return instance.call(index, type, values, () => real(...values));
    };
  }

  call(index, type, values, run) {
    const { stream } = this;
    this.toGuest(type.params, values);
    stream.event('call');
    stream.number(index);
    this.values(type.params, values);
    this.calls += 1;
    let result;
    try {
      result = run();
    } catch (error) {
      this.ended(error);
      throw error;
    }
    if (this.isOver) return result;
    const results = type.results.length > 1 ? [...result] : [result];
    this.fromGuest(type.results, results);
    stream.mix(RETURNED);
    this.mix(type.results, results);
    stream.event('returned');
    stream.number(stream.hash >>> 0);
    const given = type.results.map((one, place) => (one === 'func' ? tables.wrapped(this, results[place]) : results[place]));
    return type.results.length > 1 ? given : given[0];
  }

  /** A call that did not return. */
  ended(error) {
    if (this.isOver) return;
    this.fromGuest();
    const isTrap = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    this.stream.event(isTrap && error !== this.thrown ? 'trapped' : 'threw');
  }

  /** A function of the host, as the guest calls it. */
  imported(index, type, given) {
    const instance = this;
    return function host(...args) {
      if (instance.isOver) return given(...args);
      const { stream } = instance;
      instance.fromGuest(type.params, args);
      stream.mix(IMPORTED);
      stream.mix(index);
      instance.mix(type.params, args);
      stream.event('imported');
      stream.number(index);
      stream.number(stream.hash >>> 0);
      let results;
      try {
        const seen = type.params.map((param, place) => (param === 'func' ? tables.wrapped(instance, args[place]) : args[place]));
        const result = given(...seen);
        const all = type.results.length > 1 ? [...result] : [result];
        results = type.results.map((one, place) => coerced(one, all[place]));
      } catch (error) {
        instance.threw(error);
        throw error;
      }
      instance.toGuest(type.results, results);
      stream.event('return');
      instance.values(type.results, results);
      return type.results.length > 1 ? results : results[0];
    };
  }

  threw(error) {
    this.thrown = error;
    this.toGuest();
    this.stream.event('throw');
  }

  /** Nothing is recorded any more. */
  end() {
    if (this.isOver) return;
    this.isOver = true;
    const { stream } = this;
    const ranges = this.memories.flatMap((watched) => watched.ranges().map((range) => ({ watched, ...range })));
    stream.event('end');
    stream.number(ranges.length);
    for (const { watched, start, end } of ranges) {
      stream.number(watched.index);
      stream.number(start);
      stream.number(end - start);
      watched.words(start, end, (word) => stream.mix(word));
    }
    stream.number(stream.hash >>> 0);
    stream.close();
  }
};
