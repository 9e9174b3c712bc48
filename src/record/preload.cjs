// Records what WebAssembly asks of its host in this process or page: it is loaded in front
// of a program. Each instance has a file of events and one that says of what they are.
//
// What must stay true: the program sees what it would see: the same values, the same
// memories, the same errors, its own environment. What cannot be recorded runs as if nobody looked.
'use strict';

const environment = require('./environment.cjs');
const { shapeOf, typeOf } = require('./shape.cjs');
const { Stream } = require('./stream.cjs');
const { Instance, isPlain } = require('./instance.cjs');
const tables = require('./tables.cjs');

/** A memory that is larger than this is compared for too long. */
const MEMORY_BYTES_MAX = 2 ** 31;

const wasm = WebAssembly;
const real = { ...tables.real, compile: wasm.compile, Memory: wasm.Memory, Table: wasm.Table };
const valueOf = Object.getOwnPropertyDescriptor(wasm.Global.prototype, 'value').get;

/** The bytes of modules, and where they are kept. */
const sources = new WeakMap();
/** The most that memories and tables can become, as they were made. */
const maxima = new WeakMap();
const instances = [];
let [streams, modules, notes] = [0, 0, 0];

/** A copy of a module's bytes, which the program may change or give away as soon as it is being compiled. */
function bytesOf(source) {
  try {
    if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice();
    const isBuffer = /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(source));
    return isBuffer ? new Uint8Array(source).slice() : undefined;
  } catch {
    // A buffer that was given away already: the engine says so.
    return undefined;
  }
}

function keep(module, bytes, options) {
  const { builtins, importedStringConstants } = options ?? {};
  const hasOthers = [...(builtins ?? [])].length > 0 || importedStringConstants != null;
  sources.set(module, { bytes, refused: hasOthers ? 'it was compiled with builtins of JavaScript' : null });
  return module;
}

/** What there is to say against recording an instance, in a line. */
function whyNot(shape, imports) {
  const isShared = shape.memories.some((memory) => memory.isShared);
  if (isShared) return 'its memory is shared between threads';
  if (shape.memories.some((memory) => memory.hasPageSize)) return 'its memory has pages of its own size';
  for (const { module, name, kind, index } of shape.imports) {
    const given = imports[module]?.[name];
    if (kind === 'func' && !isPlain(typeOf(shape, index))) return `'${module}' '${name}' takes or returns what JavaScript cannot see`;
    if (kind === 'func' && typeof given !== 'function') return `'${module}' '${name}' is no function`;
    const first = shape.imports.find((one) => one.module === module && one.name === name);
    const isSame = first.kind === kind && kind === 'func' && JSON.stringify(typeOf(shape, first.index)) === JSON.stringify(typeOf(shape, index));
    if (first.index !== index && !isSame) return `it imports '${module}' '${name}' twice, as different things`;
    if (kind === 'memory' && given?.buffer?.byteLength > MEMORY_BYTES_MAX) return 'its memory has more than 2 GiB';
  }
  return null;
}

/** Imports as the engine is given them: functions that are recorded, tables and functions as they are. */
function recordedImports(instance, imports) {
  const all = {};
  for (const { module, name, kind, index } of instance.shape.imports) {
    const given = imports[module][name];
    all[module] ??= {};
    // Of two imports of one function, the record has the first.
    if (kind === 'func') all[module][name] ??= instance.imported(index, typeOf(instance.shape, index), given);
    else all[module][name] = given;
  }
  return all;
}

/** What an instance was given that is no function. */
function watchImports(instance, imports) {
  const given = { memories: [], tables: [], globals: [], functions: instance.functions };
  const seen = new Set();
  for (const { module, name, kind, index } of instance.shape.imports) {
    const value = imports[module][name];
    if (kind !== 'func' && typeof value === 'object' && seen.has(value)) instance.refused ??= `it imports '${module}' '${name}' under another name as well`;
    seen.add(value);
    if (kind === 'memory') {
      const watched = instance.watchMemory(value, index);
      given.memories.push({ index, size: watched.bytes / 65536, max: maxima.get(value) ?? instance.shape.memories[index].max });
      watched.image(instance.stream);
    } else if (kind === 'table') {
      tables.use(instance, value, index);
      given.tables.push({ index, size: Number(value.length), max: maxima.get(value) ?? instance.shape.tables[index].max });
      if (hasElements(value)) instance.refused ??= 'a table that it imports had elements before';
    } else if (kind === 'global') {
      given.globals.push({ index, bits: bitsOf(instance, index, value) });
      if (value instanceof wasm.Global) instance.watchGlobal(value, index);
    }
  }
  return given;
}

function hasElements(table) {
  const get = Object.getPrototypeOf(table).get;
  for (let index = 0; index < table.length; index += 1) if (get.call(table, index) !== null) return true;
  return false;
}

/** The bits of an imported global, in decimal digits. */
function bitsOf(instance, index, given) {
  const { type } = instance.shape.globals[index];
  const value = given instanceof wasm.Global ? valueOf.call(given) : given;
  const view = new DataView(new ArrayBuffer(8));
  if (type === 'i32') view.setInt32(0, value, true);
  else if (type === 'i64') view.setBigInt64(0, value, true);
  else if (type === 'f32') view.setFloat32(0, value, true);
  else if (type === 'f64') view.setFloat64(0, value, true);
  else if (value !== null) instance.refused ??= 'a global that it imports is a reference';
  return String(view.getBigUint64(0, true));
}

/** What JavaScript sees of an instance's exports. */
function exportsOf(instance, exported) {
  const all = Object.create(null);
  for (const { name, kind, index } of instance.shape.exports) {
    const value = exported[name];
    all[name] = value;
    if (kind === 'func' && isPlain(typeOf(instance.shape, index))) all[name] = tables.own(instance, value, index);
    else if (kind === 'memory') instance.watchMemory(value, index);
    else if (kind === 'table') tables.use(instance, value, index);
    else if (kind === 'global') instance.watchGlobal(value, index);
  }
  return Object.freeze(all);
}

function instantiated(module, imports) {
  const plain = (refused) => {
    note({ refused, module, calls: 0, guestMs: 0 }, {});
    return new real.Instance(module, unwrappedImports(imports));
  };
  const source = sources.get(module) ?? { refused: 'its module was compiled by another thread' };
  if (source.refused !== null) return plain(source.refused);
  let shape;
  try {
    shape = shapeOf(source.bytes);
  } catch (error) {
    return plain(error.message);
  }
  const refused = whyNot(shape, imports ?? {});
  if (refused !== null) return plain(refused);
  return recorded(module, shape, imports ?? {});
}

function recorded(module, shape, imports) {
  const instance = new Instance(shape, new Stream(`${streams++}.events`));
  Object.assign(instance, { module, refused: undefined });
  instance.given = watchImports(instance, imports);
  if (instance.refused !== undefined) instance.isOver = true;
  instance.stream.event('begin');
  instance.hasBegun = true;
  const make = () => new real.Instance(module, recordedImports(instance, imports));
  const start = { params: [], results: [] };
  let result;
  if (shape.start === null) {
    result = make();
    for (const watched of instance.memories) watched.guestRan();
  } else {
    instance.call(shape.start, start, [], () => { result = make(); });
  }
  Object.defineProperty(result, 'exports', { value: exportsOf(instance, result.exports), enumerable: true });
  instances.push(instance);
  return result;
}

/**
 * Functions and instances of others, as the engine knows them. Each is asked for when the engine asks: those of
 * a program that links dynamically come to be only then.
 */
function unwrappedImports(imports) {
  const within = (given, answer) => (typeof given === 'object' && given !== null ? new Proxy({}, { get: (_, name) => answer(given[name]) }) : given);
  return within(imports, (fields) => within(fields, tables.unwrapped));
}

/** Says of what a file of events is. */
function note(instance, given) {
  const source = sources.get(instance.module);
  if (source !== undefined) source.path ??= put(`module${modules++}.wasm`, source.bytes);
  const { refused, stream } = instance;
  const said = {
    module: source?.path ?? null, events: stream?.file.path ?? null, host: environment.host,
    given, count: stream?.events ?? 0, calls: instance.calls, guest_ms: instance.guestMs,
    refused: refused ?? (stream?.isFull ? 'its host did more than a record can have (1 GiB)' : null), lost: [...(instance.lost ?? [])],
  };
  put(`note${notes++}.json`, new TextEncoder().encode(JSON.stringify(said)));
}

/** Writes a file; where it is. */
function put(name, bytes) {
  const file = environment.create(name);
  file.write(bytes);
  file.close();
  return file.path;
}

function finish() {
  for (const instance of instances.splice(0)) {
    instance.end();
    note(instance, instance.given);
  }
}

function install() {
  const compiled = (source, ...options) => {
    const bytes = bytesOf(source);
    return real.compile.call(wasm, source, ...options).then((module) => keep(module, bytes, ...options));
  };
  const streamed = (response) => Promise.resolve(response).then((answer) => answer.arrayBuffer());
  const trap = (target, construct) => new Proxy(target, { construct });
  wasm.Module = trap(real.Module, (target, [source, ...options], as) => {
    const bytes = bytesOf(source);
    return keep(Reflect.construct(target, [source, ...options], as), bytes, ...options);
  });
  wasm.Instance = trap(real.Instance, (_, [module, imports]) => instantiated(module, imports));
  for (const name of ['Memory', 'Table']) {
    wasm[name] = trap(real[name], (target, [descriptor, ...rest], as) => {
      const made = Reflect.construct(target, [descriptor, ...rest.map(tables.unwrapped)], as);
      if (descriptor.maximum !== undefined) maxima.set(made, Number(descriptor.maximum));
      return made;
    });
    wasm[name].prototype.constructor = wasm[name];
  }
  wasm.compile = compiled;
  wasm.compileStreaming = (response, ...options) => streamed(response).then((bytes) => compiled(bytes, ...options));
  wasm.instantiate = async (source, imports, ...options) => {
    if (source instanceof real.Module) return instantiated(source, imports);
    const module = await compiled(source, ...options);
    return { module, instance: instantiated(module, imports) };
  };
  wasm.instantiateStreaming = (response, ...rest) => streamed(response).then((bytes) => wasm.instantiate(bytes, ...rest));
  tables.install();
  environment.atEnd(finish);
}

if (environment.isRecording) install();
