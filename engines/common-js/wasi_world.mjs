// What the guest sees of the host, by our WASI, from a request.

import { Failure } from './events.mjs';
import { Wasi } from './wasi.mjs';

const utf8 = new TextEncoder();

/** `prepare` of a host that makes system calls by `sys`. */
export function prepareOurs(sys, request, streams) {
  const folders = request.dirs ?? [];
  const name = request.module.slice(request.module.lastIndexOf('/') + 1);
  try {
    const wasi = new Wasi(sys, {
      args: [name, ...(request.args ?? [])].map((text) => utf8.encode(text)),
      env: (request.env ?? []).map((pair) => utf8.encode(pair.join('='))),
      folders: folders.map((pair) => pair.map((text) => utf8.encode(text))),
      streams,
    });
    return { imports: wasi.imports, start: (instance) => wasi.start(instance), close: () => wasi.close() };
  } catch (error) {
    if (error.folder === undefined) throw error;
    throw new Failure('io', `cannot open the folder ${folders[error.folder][0]}`);
  }
}
