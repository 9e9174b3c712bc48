// canvaskit-wasm: Skia draws on the processor.
import { check, hash, numbers } from './fixed.mjs';
import init from 'canvaskit-wasm';

const kit = await init();
const surface = kit.MakeSurface(800, 600);
const canvas = surface.getCanvas();
canvas.clear(kit.WHITE);
const next = numbers();
for (let i = 0; i < 300; i += 1) {
  const paint = new kit.Paint();
  paint.setAntiAlias(true);
  paint.setColor(kit.Color(next() % 256, next() % 256, next() % 256, 0.5));
  paint.setStyle(i % 2 ? kit.PaintStyle.Fill : kit.PaintStyle.Stroke);
  paint.setStrokeWidth(1 + (i % 7));
  const path = kit.Path.MakeFromSVGString(`M${next() % 800} ${next() % 600} C${Array.from({ length: 6 }, () => next() % 800).join(' ')}`);
  canvas.drawPath(path, paint);
  if (i % 3 === 0) canvas.drawCircle(next() % 800, next() % 600, next() % 80, paint);
}
const png = surface.makeImageSnapshot().encodeToBytes();
check(png[1] === 0x50 && png.length > 10000, 'a PNG');
console.log(png.length, hash(png));
