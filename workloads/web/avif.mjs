// @jsquash/avif: a picture encoded by libaom.
import { check, file, hash, picture } from './fixed.mjs';
import avif from '@jsquash/avif/codec/enc/avif_enc.js';
import { defaultOptions } from '@jsquash/avif/meta.js';

const { data, width, height } = picture(256, 192);
const { encode } = await avif({ wasmBinary: file('@jsquash/avif/codec/enc/avif_enc.wasm'), noInitialRun: true });
const packed = encode(new Uint8Array(data.buffer), width, height, { ...defaultOptions, speed: 8 });
check(String.fromCharCode(...packed.slice(4, 12)) === 'ftypavif', 'an AVIF');
console.log(packed.length, hash(packed));
