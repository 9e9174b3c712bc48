// What a module declares, as far as a recorder must know it: the types of its functions,
// what it imports and exports, and where it begins.
'use strict';

const KINDS = ['func', 'table', 'memory', 'global', 'tag'];
const VALUES = { 0x7f: 'i32', 0x7e: 'i64', 0x7d: 'f32', 0x7c: 'f64', 0x7b: 'v128', 0x70: 'func', 0x6f: 'extern' };

/** Of names: what marks the order of bytes elsewhere is a part of one. */
const names = new TextDecoder('utf-8', { ignoreBOM: true });

class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte() {
    if (this.at >= this.end) throw new Error('it is cut off');
    return this.bytes[this.at++];
  }

  /** A number in LEB128; those of 64 bits lose what no limit of a memory needs. */
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  text() {
    const length = this.number();
    const text = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return names.decode(text);
  }

  list(each) {
    return Array.from({ length: this.number() }, each);
  }

  /** A type of values: its name, or "other" for one that no record has. */
  value() {
    const byte = this.byte();
    if (byte === 0x63 || byte === 0x64) {
      this.number();
      return 'other';
    }
    return VALUES[byte] ?? 'other';
  }

  limits() {
    const flags = this.byte();
    const min = this.number();
    const max = flags & 1 ? this.number() : null;
    if (flags & 8) this.number();
    return { min, max, isShared: (flags & 2) !== 0, isWide: (flags & 4) !== 0, hasPageSize: (flags & 8) !== 0 };
  }

  table() {
    return { element: this.value(), ...this.limits() };
  }

  /** Steps over a constant expression. */
  constant() {
    for (;;) {
      const opcode = this.byte();
      if (opcode === 0x0b) return;
      if ([0x41, 0x42, 0x23, 0xd0, 0xd2].includes(opcode)) this.number();
      else if (opcode === 0x43) this.at += 4;
      else if (opcode === 0x44) this.at += 8;
      else if (opcode === 0xfd && this.number() === 12) this.at += 16;
      else if (![0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e].includes(opcode)) throw new Error('a constant of it is unusual');
    }
  }

  global() {
    return { type: this.value(), isMutable: (this.byte() & 1) !== 0 };
  }
}

/** The types of a section; none for what is no function's. */
function types(reader) {
  const all = [];
  const one = (form) => {
    if (form === 0x50 || form === 0x4f) {
      reader.list(() => reader.number());
      form = reader.byte();
    }
    if (form !== 0x60) throw new Error('it has types of structures, arrays or stacks');
    all.push({ params: reader.list(() => reader.value()), results: reader.list(() => reader.value()) });
  };
  for (let left = reader.number(); left > 0; left--) {
    const form = reader.byte();
    if (form !== 0x4e) one(form);
    else for (let inner = reader.number(); inner > 0; inner--) one(reader.byte());
  }
  return all;
}

/** Reads what stands in front of a module's code, and throws what is wrong in a line. */
exports.shapeOf = function shapeOf(bytes) {
  const shape = { types: [], imports: [], exports: [], funcs: [], tables: [], memories: [], globals: [], start: null };
  const spaces = { func: shape.funcs, table: shape.tables, memory: shape.memories, global: shape.globals, tag: [] };
  const readType = (reader, kind) => {
    if (kind === 'func') return reader.number();
    if (kind === 'table') return reader.table();
    if (kind === 'memory') return reader.limits();
    if (kind === 'global') return reader.global();
    reader.byte();
    return reader.number();
  };
  const sections = {
    1: (reader) => { shape.types = types(reader); },
    2: (reader) => {
      reader.list(() => {
        const [module, name, kind] = [reader.text(), reader.text(), KINDS[reader.byte()]];
        const index = spaces[kind].push(readType(reader, kind)) - 1;
        shape.imports.push({ module, name, kind, index });
      });
    },
    3: (reader) => { reader.list(() => spaces.func.push(reader.number())); },
    4: (reader) => {
      reader.list(() => {
        const hasValue = reader.bytes[reader.at] === 0x40;
        if (hasValue) reader.at += 2;
        spaces.table.push(reader.table());
        if (hasValue) reader.constant();
      });
    },
    5: (reader) => { reader.list(() => spaces.memory.push(reader.limits())); },
    6: (reader) => {
      reader.list(() => {
        spaces.global.push(reader.global());
        reader.constant();
      });
    },
    7: (reader) => {
      shape.exports = reader.list(() => ({ name: reader.text(), kind: KINDS[reader.byte()], index: reader.number() }));
    },
    8: (reader) => { shape.start = reader.number(); },
  };
  const reader = new Reader(bytes, 8);
  while (reader.at < reader.end) {
    const id = reader.byte();
    const size = reader.number();
    sections[id]?.(new Reader(bytes, reader.at, reader.at + size));
    reader.at += size;
  }
  return shape;
};

/** The type of a function by its index. */
exports.typeOf = (shape, func) => shape.types[shape.funcs[func]];
