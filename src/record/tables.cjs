// Functions that go through tables: who owns which, what JavaScript sees of them, and
// what it puts there.
'use strict';

const { typeOf } = require('./shape.cjs');

/** What JavaScript sees of a function of a guest, and back. */
const seen = new WeakMap();
const real = new WeakMap();
/** Of each real function, its instance and its index there. */
const owners = new WeakMap();
/** Of each function of the host in a table of an instance, its index. */
const hosts = new WeakMap();
/** The instances that have a table, each with its index there. */
const users = new WeakMap();

const Table = WebAssembly.Table.prototype;
const original = { get: Table.get, set: Table.set, grow: Table.grow };

exports.unwrapped = (value) => real.get(value) ?? value;

/** What JavaScript is given for a function of an instance. */
exports.wrapped = function wrapped(instance, func) {
  if (typeof func !== 'function') return func;
  const known = seen.get(func);
  if (known !== undefined) return known;
  const index = Number(func.name);
  return exports.own(instance, func, index);
};

/** The same of one whose index is known. */
exports.own = function own(instance, func, index) {
  const known = seen.get(func);
  if (known !== undefined) return known;
  const shown = instance.called(index, func);
  Object.defineProperty(shown, 'name', { value: String(index) });
  Object.defineProperty(shown, 'length', { value: func.length });
  seen.set(func, shown);
  real.set(shown, func);
  owners.set(func, { instance, index });
  return shown;
};

/** The index of a real function, as this instance knows it. */
exports.indexOf = function indexOf(instance, func) {
  const owner = owners.get(func);
  if (owner?.instance === instance) return owner.index;
  const index = hosts.get(func);
  if (index !== undefined) return index;
  instance.lost.add('a function that the host passed, of which it is not known whose it is');
  return 0;
};

/** An instance uses a table. */
exports.use = function use(instance, table, index) {
  const known = users.get(table) ?? [];
  if (known.some((one) => one.instance === instance)) return;
  users.set(table, [...known, { instance, index }]);
  if (known.length === 0) return;
  for (const one of users.get(table)) {
    // What is refused costs no more.
    one.instance.isOver = true;
    one.instance.refused ??= 'its table is shared with another instance (dynamic linking): calls between them do not pass through JavaScript';
  }
};

/**
 * What is put into a table for a function of somebody else's: one of our own that calls it, and of
 * which the record has the calls.
 */
function bridged(instance, func) {
  if (typeof func !== 'function') return func;
  const owner = owners.get(func);
  if (owner === undefined || owner.instance === instance) return func;
  const type = typeOf(owner.instance.shape, owner.index);
  const isSame = (one) => JSON.stringify(one) === JSON.stringify(type);
  const ty = instance.shape.types.findIndex(isSame);
  // Of a type that it has not, no call of the guest succeeds.
  if (ty < 0) return func;
  const index = instance.shape.funcs.length + instance.functions.push(ty) - 1;
  const call = instance.imported(index, type, (...args) => exports.wrapped(owner.instance, func)(...args));
  const bridge = new exports.real.Instance(new exports.real.Module(bridgeOf(type)), { h: { f: call } }).exports.f;
  hosts.set(bridge, index);
  seen.set(bridge, call);
  return bridge;
}

const CODES = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, func: 0x70, extern: 0x6f };

/** A module that exports the function of this type that it imports. */
function bridgeOf({ params, results }) {
  const list = (types) => [types.length, ...types.map((type) => CODES[type])];
  const section = (id, ...bytes) => [id, bytes.length, ...bytes];
  return new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, 1, 0x60, ...list(params), ...list(results)),
    ...section(2, 1, 1, 0x68, 1, 0x66, 0, 0),
    ...section(7, 1, 1, 0x66, 0, 0),
  ]);
}

/** The constructors as the engine has them. */
exports.real = { Instance: WebAssembly.Instance, Module: WebAssembly.Module };

const recorded = (table) => (users.get(table) ?? []).filter(({ instance }) => !instance.isOver && instance.hasBegun);

/** Tells what is done with tables. */
exports.install = function install() {
  Table.get = function get(index) {
    const value = original.get.call(this, index);
    const [user] = users.get(this) ?? [];
    return user === undefined ? value : exports.wrapped(user.instance, value);
  };
  Table.set = function set(index, ...given) {
    const [user] = recorded(this);
    let [value] = given.length === 0 ? [null] : given.map(exports.unwrapped);
    if (user !== undefined) value = bridged(user.instance, value);
    original.set.call(this, index, value);
    if (user !== undefined) note(user, 'setElement', index, value);
  };
  Table.grow = function grow(count, ...given) {
    const [user] = recorded(this);
    let [value] = given.length === 0 ? [null] : given.map(exports.unwrapped);
    if (user !== undefined) value = bridged(user.instance, value);
    const before = original.grow.call(this, count, value);
    if (user !== undefined) note(user, 'growTable', count, value);
    return before;
  };
};

function note({ instance, index }, event, number, value) {
  const { element } = instance.shape.tables[index];
  const code = instance.code(element, value);
  instance.stream.event(event);
  instance.stream.number(index);
  instance.stream.number(Number(number));
  instance.stream.number(code);
}
