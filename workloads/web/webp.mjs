// @jsquash/webp: a picture encoded by libwebp with vectors.
import { check, file, hash, picture } from './fixed.mjs';
import webp from '@jsquash/webp/codec/enc/webp_enc_simd.js';
import { defaultOptions } from '@jsquash/webp/meta.js';

const { data, width, height } = picture(1024, 768);
const { encode } = await webp({ wasmBinary: file('@jsquash/webp/codec/enc/webp_enc_simd.wasm'), noInitialRun: true });
const packed = encode(data, width, height, defaultOptions);
check(String.fromCharCode(...packed.slice(8, 12)) === 'WEBP', 'a WebP');
console.log(packed.length, hash(packed));
