// @resvg/resvg-wasm: an SVG to a PNG.
import { check, file, hash, numbers } from './fixed.mjs';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

await initWasm(file('@resvg/resvg-wasm/index_bg.wasm'));
const next = numbers();
const at = () => (next() % 10000) / 10;
const shapes = Array.from({ length: 400 }, (_, i) => {
  const path = `M${at()} ${at()} C${at()} ${at()} ${at()} ${at()} ${at()} ${at()} S${at()} ${at()} ${at()} ${at()}`;
  return i % 2
    ? `<path d="${path}" fill="none" stroke="url(#g)" stroke-width="${1 + (i % 9)}" stroke-dasharray="${i % 5 ? 'none' : '9 4'}"/>`
    : `<path d="${path}Z" fill="hsl(${i}, 80%, 50%)" fill-opacity="0.2"/>`;
});
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000">
<defs><linearGradient id="g"><stop offset="0" stop-color="#205"/><stop offset="1" stop-color="#fa0"/></linearGradient>
<filter id="b"><feGaussianBlur stdDeviation="6"/></filter></defs>
<g>${shapes.join('')}</g><circle cx="500" cy="500" r="200" fill="#0af" filter="url(#b)"/></svg>`;
const png = new Resvg(svg, { fitTo: { mode: 'width', value: 900 }, font: { loadSystemFonts: false } }).render().asPng();
check(png[1] === 0x50 && png.length > 100000, 'a PNG');
console.log(png.length, hash(png));
