// @ffmpeg/core: a test picture to an MP4.
import { check, file, hash } from './fixed.mjs';
import { createRequire } from 'node:module';

// Its glue is for workers in pages.
globalThis.self = globalThis;
globalThis.location = { href: 'file:///' };
const create = createRequire(import.meta.url)('@ffmpeg/core');
const core = await create({ wasmBinary: file('@ffmpeg/core/dist/umd/ffmpeg-core.wasm') });
core.setLogger(() => {});
const status = core.exec('-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2', '-c:v', 'mpeg4', '-threads', '1', 'out.mp4');
check(status === 0, `status ${status}`);
const made = core.FS.readFile('out.mp4');
check(Buffer.from(made).includes('ftyp'), 'an MP4');
console.log(made.length, hash(made));
