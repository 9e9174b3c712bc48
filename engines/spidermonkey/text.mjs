// SpiderMonkey alone has no text codecs; imported before anything that wants them.

globalThis.TextEncoder ??= class {
  encode(text) {
    return Uint8Array.from(unescape(encodeURIComponent(text)), (one) => one.charCodeAt(0));
  }
};

/** Bytes of UTF-8 as text. */
export function textOf(bytes) {
  let raw = '';
  for (let at = 0; at < bytes.length; at += 4096) raw += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return decodeURIComponent(escape(raw));
}

export const bytesOf = (text) => new TextEncoder().encode(text);
