// Where the recorder is: a page of a browser, or a worker of one. What is recorded goes to `fathom record` by
// a function that the browser has put there, which is gone before the page's scripts begin.
'use strict';

const say = globalThis.fathomRecorder;
delete globalThis.fathomRecorder;

/** Bytes of one message. */
const PART = 3 << 18;
/** How often is said that the guest runs, at most. */
const EVERY_MS = 250;

/** Tells the files of this page from those of others. */
const token = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

function base64(bytes) {
  if (bytes.toBase64 !== undefined) return bytes.toBase64();
  let text = '';
  for (let from = 0; from < bytes.length; from += 1 << 14) text += String.fromCharCode(...bytes.subarray(from, from + (1 << 14)));
  return btoa(text);
}

exports.isRecording = say !== undefined;
exports.compare = '@COMPARE@';
exports.host = '@HOST@';

/** A file of the record. */
exports.create = (name) => ({
  path: name,
  write(bytes) {
    for (let from = 0; from < bytes.length; from += PART) say(`${token} ${name} ${base64(bytes.subarray(from, from + PART))}`);
  },
  close() {},
});

/** Calls `finish` when the page ends, or `fathom record` says so. */
exports.atEnd = function atEnd(finish) {
  addEventListener('fathomrecorderend', finish, { capture: true });
  addEventListener('pagehide', finish, { capture: true });
};

let saidAt = -Infinity;

/** The guest runs, or has run. */
exports.ran = function ran(now) {
  if (now - saidAt < EVERY_MS) return;
  saidAt = now;
  say(token);
};

/** As many bytes as are compared in half a second, and what compares them. */
exports.comparedSoon = 2 ** 31;
exports.view = (buffer) => new Uint8Array(buffer);
exports.zeros = (length) => new Uint8Array(length);
/** Of places that are multiples of eight. V8 compares such words four times as fast as 32 bits. */
exports.isSame = function isSame(one, from, other, at, length) {
  const these = new BigInt64Array(one.buffer, one.byteOffset + from, length / 8);
  const those = new BigInt64Array(other.buffer, other.byteOffset + at, length / 8);
  for (let word = 0; word < these.length; word += 1) if (these[word] !== those[word]) return false;
  return true;
};
