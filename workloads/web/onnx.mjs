// onnxruntime-web: a small network, made here.
import { check, numbers } from './fixed.mjs';
import { createRequire } from 'node:module';

const ort = createRequire(import.meta.url)('onnxruntime-web');

// A model in ONNX's protocol buffers: two convolutions with biases and ReLU, a pooling, a product.
const varint = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
const number = (field, n) => Buffer.from([...varint(field << 3), ...varint(n)]);
const bytes = (field, data) => Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(data.length)]), data]);
const text = (field, value) => bytes(field, Buffer.from(value));
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const [FLOAT, INTS] = [1, 7];
const next = numbers();
const weights = (name, dims) => {
  const values = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, () => next() / 2 ** 32 - 0.5);
  return message(5, ...dims.map((dim) => number(1, dim)), number(2, FLOAT), text(8, name), bytes(9, Buffer.from(values.buffer)));
};
const node = (op, inputs, output, ...attributes) =>
  message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, op), ...attributes);
const ints = (name, values) => message(5, text(1, name), ...values.map((value) => number(8, value)), number(20, INTS));
const value = (field, name, dims) =>
  message(field, text(1, name), message(2, message(1, number(1, FLOAT), message(2, ...dims.map((dim) => message(1, number(1, dim)))))));
const graph = message(
  7,
  node('Conv', ['x', 'w1', 'b1'], 'c1', ints('pads', [1, 1, 1, 1])),
  node('Relu', ['c1'], 'r1'),
  node('Conv', ['r1', 'w2', 'b2'], 'c2', ints('pads', [1, 1, 1, 1]), ints('strides', [2, 2])),
  node('Relu', ['c2'], 'r2'),
  node('GlobalAveragePool', ['r2'], 'p'),
  node('Flatten', ['p'], 'f'),
  node('MatMul', ['f', 'w3'], 'm'),
  node('Softmax', ['m'], 'y'),
  text(2, 'picture'),
  weights('w1', [16, 3, 3, 3]), weights('b1', [16]), weights('w2', [32, 16, 3, 3]), weights('b2', [32]), weights('w3', [32, 10]),
  value(11, 'x', [1, 3, 96, 96]),
  value(12, 'y', [1, 10]),
);
const model = Buffer.concat([number(1, 8), graph, message(8, text(1, ''), number(2, 13))]);

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = 'node_modules/onnxruntime-web/dist/';
const session = await ort.InferenceSession.create(model, { executionProviders: ['wasm'] });
let y;
for (let round = 0; round < 8; round += 1) {
  const x = Float32Array.from({ length: 3 * 96 * 96 }, () => next() / 2 ** 32);
  ({ y } = await session.run({ x: new ort.Tensor('float32', x, [1, 3, 96, 96]) }));
}
check(Math.abs(y.data.reduce((sum, p) => sum + p, 0) - 1) < 1e-5, 'probabilities');
console.log(y.data.join(' '));
