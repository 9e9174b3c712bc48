// WASI's descriptors and paths on Linux's system calls. A path never leaves the folder
// it starts from: the kernel sees to it (openat2 with RESOLVE_BENEATH).

import { CODES, linuxCode } from './wasi_codes.mjs';

const SYS = {
  read: 0, write: 1, close: 3, fstat: 5, lseek: 8, pread: 17, pwrite: 18, fcntl: 72, fsync: 74, fdatasync: 75,
  ftruncate: 77, getdents: 217, open: 257, mkdir: 258, fstatat: 262, unlink: 263, rename: 264, link: 265,
  symlink: 266, readlink: 267, utimens: 280, fallocate: 285, openat2: 437,
};
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_REMOVEDIR = 0x200;
const AT_EMPTY_PATH = 0x1000;
const F_GETFL = 3;
const F_SETFL = 4;
const O = {
  wronly: 1, rdwr: 2, creat: 0x40, excl: 0x80, trunc: 0x200, append: 0x400, nonblock: 0x800, dsync: 0x1000,
  directory: 0x10000, nofollow: 0x20000, cloexec: 0x80000, sync: 0x101000, path: 0x200000,
};
const RESOLVE_BENEATH = 8n;
const UTIME_NOW = 0x3fffffffn;
const UTIME_OMIT = 0x3ffffffen;
const EINTR = 4;

const TYPES = new Map([[0o060000, 1], [0o020000, 2], [0o040000, 3], [0o100000, 4], [0o140000, 6], [0o120000, 7]]);
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const RIGHTS = { read: 1n << 1n, seek: 1n << 2n, tell: 1n << 5n, write: 1n << 6n, readdir: 1n << 14n, size: 1n << 22n };
const ALL_RIGHTS = (1n << 29n) - 1n;
const FLAGS = [[1, O.append], [2, O.dsync], [4, O.nonblock], [8, O.sync], [16, O.sync]];
const FOLLOW = 1;
const CREATE = 1;
const AS_DIRECTORY = 2;
const EXCLUSIVE = 4;
const TRUNCATE = 8;
const STAT_BYTES = 144;
const DOT = new Uint8Array([46, 0]);
const EMPTY = new Uint8Array([0]);
const SLASH = 47;
const FIRST_FOLDER = 3;
const NS = 1_000_000_000n;

/** `bytes` with the 0 that ends a path. */
function path(bytes) {
  const ended = new Uint8Array(bytes.length + 1);
  ended.set(bytes);
  return ended;
}

/** A folder's descriptor and a name in it, for calls that cannot be told to stay beneath. */
function split(bytes) {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === SLASH) end--;
  const cut = bytes.lastIndexOf(SLASH, end - 1) + 1;
  const name = bytes.slice(cut, end);
  const leaves = name.length === 2 && name[0] === 46 && name[1] === 46;
  return { folder: bytes.slice(0, cut), name: path(name), isBad: leaves || (name.length === 0 && end < bytes.length) };
}

export class Files {
  #sys;
  #memory;
  #open = new Map();

  /** See `Wasi`. The three streams stay open when the guest closes them. */
  constructor(sys, memory, streams, folders) {
    this.#sys = sys;
    this.#memory = memory;
    streams.forEach((host, fd) => this.#open.set(fd, { host, lent: true }));
    folders.forEach(([place, name], index) => {
      const host = sys(SYS.open, AT_FDCWD, path(place), O.directory | O.cloexec, 0);
      if (host < 0) {
        this.close();
        throw { folder: index };
      }
      this.#open.set(FIRST_FOLDER + index, { host, name });
    });
  }

  close() {
    for (const { host, lent } of this.#open.values()) if (!lent) this.#sys(SYS.close, host);
    this.#open.clear();
  }

  /** The imports by their names. */
  functions() {
    const names = Object.getOwnPropertyNames(Files.prototype).filter((name) => /^(fd|path|sock)_/.test(name));
    return Object.fromEntries(names.map((name) => [name, (...values) => this[name](...values)]));
  }

  /** Calls the kernel again as long as a signal interrupts. */
  #call(...values) {
    let status;
    do status = this.#sys(...values);
    while (status === -EINTR);
    return status;
  }

  #with(fd, work) {
    const file = this.#open.get(fd);
    return file === undefined ? CODES.badf : work(file);
  }

  #simple(fd, call, ...values) {
    return this.#with(fd, ({ host }) => linuxCode(this.#call(call, host, ...values)));
  }

  #add(host, resultAt) {
    let fd = FIRST_FOLDER;
    while (this.#open.has(fd)) fd++;
    this.#open.set(fd, { host });
    this.#memory.u32(resultAt, fd);
    return CODES.success;
  }

  // Descriptors ---------------------------------------------------------------

  fd_close(fd) {
    return this.#with(fd, ({ host, lent }) => {
      this.#open.delete(fd);
      return lent ? CODES.success : linuxCode(this.#sys(SYS.close, host));
    });
  }

  fd_renumber(from, to) {
    return this.#with(from, (file) => this.#with(to, (old) => {
      if (from === to) return CODES.success;
      if (!old.lent) this.#sys(SYS.close, old.host);
      this.#open.delete(from);
      this.#open.set(to, file);
      return CODES.success;
    }));
  }

  /** Reads or writes a list of buffers, as far as the kernel goes. */
  #transfer(fd, listAt, count, resultAt, one) {
    return this.#with(fd, ({ host }) => {
      const view = this.#memory.view();
      let total = 0;
      for (let index = 0; index < count; index++) {
        const at = (listAt >>> 0) + 8 * index;
        const bytes = this.#memory.bytes(view.getUint32(at, true), view.getUint32(at + 4, true));
        if (bytes.length === 0) continue;
        const status = one(host, bytes, total);
        if (status < 0 && total === 0) return linuxCode(status);
        if (status > 0) total += status;
        if (status < bytes.length) break;
      }
      this.#memory.u32(resultAt, total);
      return CODES.success;
    });
  }

  fd_read(fd, listAt, count, resultAt) {
    return this.#transfer(fd, listAt, count, resultAt, (host, bytes) => this.#call(SYS.read, host, bytes, bytes.length));
  }

  fd_write(fd, listAt, count, resultAt) {
    return this.#transfer(fd, listAt, count, resultAt, (host, bytes) => this.#call(SYS.write, host, bytes, bytes.length));
  }

  fd_pread(fd, listAt, count, offset, resultAt) {
    return this.#transfer(fd, listAt, count, resultAt, (host, bytes, done) =>
      this.#call(SYS.pread, host, bytes, bytes.length, Number(offset) + done));
  }

  fd_pwrite(fd, listAt, count, offset, resultAt) {
    return this.#transfer(fd, listAt, count, resultAt, (host, bytes, done) =>
      this.#call(SYS.pwrite, host, bytes, bytes.length, Number(offset) + done));
  }

  fd_seek(fd, offset, whence, resultAt) {
    return this.#with(fd, ({ host }) => {
      if (whence >>> 0 > 2) return CODES.inval;
      const at = this.#call(SYS.lseek, host, Number(offset), whence);
      if (at >= 0) this.#memory.u64(resultAt, at);
      return linuxCode(at);
    });
  }

  fd_tell(fd, resultAt) {
    return this.fd_seek(fd, 0n, 1, resultAt);
  }

  fd_sync(fd) {
    return this.#simple(fd, SYS.fsync);
  }

  fd_datasync(fd) {
    return this.#simple(fd, SYS.fdatasync);
  }

  fd_advise(fd) {
    return this.#with(fd, () => CODES.success);
  }

  fd_allocate(fd, offset, length) {
    return this.#simple(fd, SYS.fallocate, 0, Number(offset), Number(length));
  }

  fd_filestat_set_size(fd, size) {
    return this.#simple(fd, SYS.ftruncate, Number(size));
  }

  fd_fdstat_get(fd, resultAt) {
    return this.#with(fd, ({ host }) => {
      const stat = new DataView(new ArrayBuffer(STAT_BYTES));
      const status = this.#call(SYS.fstat, host, new Uint8Array(stat.buffer));
      if (status < 0) return linuxCode(status);
      const type = TYPES.get(stat.getUint32(24, true) & 0o170000) ?? 0;
      const set = this.#call(SYS.fcntl, host, F_GETFL, 0);
      const flags = FLAGS.reduce((sum, [theirs, linux]) => ((set & linux) === linux ? sum | theirs : sum), 0);
      // A terminal is recognised by what it cannot: seek and tell.
      const cannot = type === CHARACTER_DEVICE || type === DIRECTORY ? RIGHTS.seek | RIGHTS.tell : 0n;
      this.#memory.bytes(resultAt, 24).fill(0);
      const view = this.#memory.view();
      view.setUint8(resultAt >>> 0, type);
      view.setUint16((resultAt >>> 0) + 2, flags, true);
      this.#memory.u64(resultAt + 8, ALL_RIGHTS & ~cannot);
      this.#memory.u64(resultAt + 16, ALL_RIGHTS);
      return CODES.success;
    });
  }

  fd_fdstat_set_flags(fd, flags) {
    const linux = FLAGS.reduce((sum, [theirs, flag]) => (flags & theirs ? sum | flag : sum), 0);
    return this.#simple(fd, SYS.fcntl, F_SETFL, linux);
  }

  fd_fdstat_set_rights(fd) {
    return this.#with(fd, () => CODES.success);
  }

  #filestat(status, stat, resultAt) {
    if (status < 0) return linuxCode(status);
    const from = new DataView(stat.buffer);
    const time = (at) => from.getBigInt64(at, true) * NS + from.getBigInt64(at + 8, true);
    this.#memory.bytes(resultAt, 64).fill(0);
    this.#memory.u64(resultAt, from.getBigUint64(0, true));
    this.#memory.u64(resultAt + 8, from.getBigUint64(8, true));
    this.#memory.view().setUint8((resultAt >>> 0) + 16, TYPES.get(from.getUint32(24, true) & 0o170000) ?? 0);
    this.#memory.u64(resultAt + 24, from.getBigUint64(16, true));
    this.#memory.u64(resultAt + 32, from.getBigUint64(48, true));
    [72, 88, 104].forEach((at, index) => this.#memory.u64(resultAt + 40 + 8 * index, BigInt.asUintN(64, time(at))));
    return CODES.success;
  }

  fd_filestat_get(fd, resultAt) {
    return this.#with(fd, ({ host }) => {
      const stat = new Uint8Array(STAT_BYTES);
      return this.#filestat(this.#call(SYS.fstat, host, stat), stat, resultAt);
    });
  }

  /** The two times of utimensat from WASI's flags: 1, 2 for access, 4, 8 for change. */
  #times(access, change, flags) {
    const one = (time, given, current) => {
      if (flags & current) return [0n, UTIME_NOW];
      return flags & given ? [BigInt.asUintN(64, time) / NS, BigInt.asUintN(64, time) % NS] : [0n, UTIME_OMIT];
    };
    return BigInt64Array.from([...one(access, 1, 2), ...one(change, 4, 8)]);
  }

  fd_filestat_set_times(fd, access, change, flags) {
    return this.#simple(fd, SYS.utimens, 0, this.#times(access, change, flags), 0);
  }

  fd_prestat_get(fd, resultAt) {
    return this.#with(fd, ({ name }) => {
      if (name === undefined) return CODES.badf;
      this.#memory.u32(resultAt, 0);
      this.#memory.u32(resultAt + 4, name.length);
      return CODES.success;
    });
  }

  fd_prestat_dir_name(fd, at, length) {
    return this.#with(fd, ({ name }) => {
      if (name === undefined) return CODES.badf;
      if (length >>> 0 < name.length) return CODES.inval;
      this.#memory.bytes(at, name.length).set(name);
      return CODES.success;
    });
  }

  /** All entries of a folder: {inode, type, name}. */
  #entries(host) {
    const entries = [];
    const buffer = new Uint8Array(32768);
    const view = new DataView(buffer.buffer);
    let status = this.#call(SYS.lseek, host, 0, 0);
    while (status >= 0 && (status = this.#call(SYS.getdents, host, buffer, buffer.length)) > 0) {
      for (let at = 0; at < status;) {
        const length = view.getUint16(at + 16, true);
        const name = buffer.slice(at + 19, at + length);
        // d_type is the file type's bits shifted.
        const type = TYPES.get(buffer[at + 18] << 12) ?? 0;
        entries.push({ inode: view.getBigUint64(at, true), type, name: name.subarray(0, name.indexOf(0)) });
        at += length;
      }
    }
    return status < 0 ? status : entries;
  }

  fd_readdir(fd, at, room, cookie, resultAt) {
    return this.#with(fd, (file) => {
      if (cookie === 0n || file.entries === undefined) {
        const entries = this.#entries(file.host);
        if (!Array.isArray(entries)) return linuxCode(entries);
        file.entries = entries;
      }
      const place = this.#memory.bytes(at, room);
      let used = 0;
      for (let index = Number(cookie); index < file.entries.length && used < place.length; index++) {
        const { inode, type, name } = file.entries[index];
        const record = new Uint8Array(24 + name.length);
        const view = new DataView(record.buffer);
        view.setBigUint64(0, BigInt(index + 1), true);
        view.setBigUint64(8, inode, true);
        view.setUint32(16, name.length, true);
        view.setUint8(20, type);
        record.set(name, 24);
        // The last one may be cut: the guest then asks again with more room.
        const part = record.subarray(0, place.length - used);
        place.set(part, used);
        used += part.length;
      }
      this.#memory.u32(resultAt, used);
      return CODES.success;
    });
  }

  // Paths ---------------------------------------------------------------------

  #openBeneath(host, name, flags, mode = 0) {
    const how = BigUint64Array.of(BigInt(flags | O.cloexec), BigInt(mode), RESOLVE_BENEATH);
    return this.#call(SYS.openat2, host, name, how, how.byteLength);
  }

  /** Calls `work` with the descriptor of the folder that a path ends in, and its last name. */
  #inFolder(fd, at, length, work) {
    return this.#with(fd, ({ host }) => {
      const { folder, name, isBad } = split(this.#memory.bytes(at, length).slice());
      if (isBad) return CODES.notcapable;
      if (folder.length === 0) return work(host, name);
      const inner = this.#openBeneath(host, path(folder), O.path | O.directory);
      if (inner < 0) return linuxCode(inner);
      const code = work(inner, name);
      this.#sys(SYS.close, inner);
      return code;
    });
  }

  path_open(fd, lookup, at, length, how, rights, _inherited, flags, resultAt) {
    return this.#with(fd, ({ host }) => {
      const reads = (rights & (RIGHTS.read | RIGHTS.readdir)) !== 0n;
      const writes = (rights & (RIGHTS.write | RIGHTS.size)) !== 0n;
      let wanted = writes ? (reads ? O.rdwr : O.wronly) : 0;
      for (const [asked, flag] of [[CREATE, O.creat], [AS_DIRECTORY, O.directory], [EXCLUSIVE, O.excl], [TRUNCATE, O.trunc]]) {
        if (how & asked) wanted |= flag;
      }
      for (const [theirs, linux] of FLAGS) if (flags & theirs) wanted |= linux;
      if (!(lookup & FOLLOW)) wanted |= O.nofollow;
      // A folder cannot be opened for writing, whatever rights it is asked with.
      if (how & AS_DIRECTORY) wanted &= ~(O.wronly | O.rdwr);
      const name = path(this.#memory.bytes(at, length));
      const opened = this.#openBeneath(host, name, wanted, how & CREATE ? 0o666 : 0);
      return opened < 0 ? linuxCode(opened) : this.#add(opened, resultAt);
    });
  }

  path_create_directory(fd, at, length) {
    return this.#inFolder(fd, at, length, (host, name) => linuxCode(this.#call(SYS.mkdir, host, name, 0o777)));
  }

  path_remove_directory(fd, at, length) {
    return this.#inFolder(fd, at, length, (host, name) => linuxCode(this.#call(SYS.unlink, host, name, AT_REMOVEDIR)));
  }

  path_unlink_file(fd, at, length) {
    return this.#inFolder(fd, at, length, (host, name) => linuxCode(this.#call(SYS.unlink, host, name, 0)));
  }

  path_filestat_get(fd, lookup, at, length, resultAt) {
    return this.#with(fd, ({ host }) => {
      const flags = O.path | (lookup & FOLLOW ? 0 : O.nofollow);
      const opened = this.#openBeneath(host, path(this.#memory.bytes(at, length)), flags);
      if (opened < 0) return linuxCode(opened);
      const stat = new Uint8Array(STAT_BYTES);
      const status = this.#call(SYS.fstatat, opened, EMPTY, stat, AT_EMPTY_PATH);
      this.#sys(SYS.close, opened);
      return this.#filestat(status, stat, resultAt);
    });
  }

  path_filestat_set_times(fd, _lookup, at, length, access, change, flags) {
    return this.#inFolder(fd, at, length, (host, name) =>
      linuxCode(this.#call(SYS.utimens, host, name.length > 1 ? name : DOT, this.#times(access, change, flags), AT_SYMLINK_NOFOLLOW)));
  }

  #between(fromFd, fromAt, fromLength, toFd, toAt, toLength, call, ...more) {
    return this.#inFolder(fromFd, fromAt, fromLength, (from, old) =>
      this.#inFolder(toFd, toAt, toLength, (to, name) => linuxCode(this.#call(call, from, old, to, name, ...more))));
  }

  path_rename(fromFd, fromAt, fromLength, toFd, toAt, toLength) {
    return this.#between(fromFd, fromAt, fromLength, toFd, toAt, toLength, SYS.rename);
  }

  path_link(fromFd, _lookup, fromAt, fromLength, toFd, toAt, toLength) {
    return this.#between(fromFd, fromAt, fromLength, toFd, toAt, toLength, SYS.link, 0);
  }

  path_symlink(textAt, textLength, fd, at, length) {
    const text = path(this.#memory.bytes(textAt, textLength));
    if (text[0] === SLASH) return CODES.notcapable;
    return this.#inFolder(fd, at, length, (host, name) => linuxCode(this.#call(SYS.symlink, text, host, name)));
  }

  path_readlink(fd, at, length, bufferAt, room, resultAt) {
    return this.#inFolder(fd, at, length, (host, name) => {
      const status = this.#call(SYS.readlink, host, name, this.#memory.bytes(bufferAt, room), room);
      if (status >= 0) this.#memory.u32(resultAt, status);
      return linuxCode(status);
    });
  }

  // Sockets: there are none. ------------------------------------------------------

  sock_accept() {
    return CODES.notsup;
  }

  sock_recv() {
    return CODES.notsup;
  }

  sock_send() {
    return CODES.notsup;
  }

  sock_shutdown() {
    return CODES.notsup;
  }
}
