// Closures, classes, exceptions, regular expressions, JSON, typed arrays, big
// integers, generators, proxies, promises: what a JavaScript engine is made of.
"use strict";

const section = (name, body) => {
  try {
    print(`${name}: ${[].concat(body()).map(String).join(" | ")}`);
  } catch (error) {
    print(`${name}: threw ${error.name}: ${error.message}`);
  }
};
let seed = 42;
const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) % n;

section("closures", () => {
  const counters = [];
  for (let i = 0; i < 3; i++) counters.push((step = 1) => (i += step));
  const curry = (f) => (a) => (b) => (...rest) => f(a, b, ...rest);
  return [counters[0](), counters[0](5), counters[2](), curry((...all) => all.reduce((x, y) => x * 10 + y))(1)(2)(3, 4)];
});

section("classes", () => {
  class Shape { #name; static made = 0; constructor(name) { this.#name = name; Shape.made++; } get name() { return this.#name; } area() { return 0; } toString() { return `${this.name}=${this.area().toFixed(3)}`; } }
  class Circle extends Shape { constructor(r) { super("circle"); this.r = r; } area() { return Math.PI * this.r ** 2; } }
  class Square extends Shape { constructor(a) { super("square"); this.a = a; } area() { return super.area() + this.a ** 2; } }
  return [new Circle(2), new Square(3), Shape.made, new Circle(1) instanceof Shape, Object.getPrototypeOf(Square).name];
});

section("exceptions", () => {
  const log = [];
  const risky = (n) => { try { if (n === 0) throw new RangeError("bottom"); return risky(n - 1); } catch (e) { if (n % 2) throw e; throw new TypeError(`at ${n}`, { cause: e }); } finally { log.push(n); } };
  try { risky(4); } catch (e) { log.push(e.message, e.cause.message, e.cause.cause.message); }
  const odd = (() => { try { return "try"; } finally { log.push("finally"); } })();
  try { null.x; } catch (e) { log.push(e instanceof TypeError); }
  try { undefinedName; } catch (e) { log.push(e.name); }
  try { eval("let let = 1"); } catch (e) { log.push(e.name); }
  // Not until the stack ends: QuickJS does not watch it on WASI, where that is a trap.
  let deep = 0; const recurse = () => { if (++deep === 300) throw new Error("deep enough"); recurse(); };
  try { recurse(); } catch (e) { log.push(e.message, deep); }
  return [...log, odd];
});
section("uncaught", () => { throw new Error("shown by its section"); });

section("regexps", () => [
  "2024-02-29 and 1999-12-31".replace(/(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/g, "$<d>.$<m>.$<y>"),
  [..."key=1; other = two".matchAll(/(\w+)\s*=\s*(\w+)/g)].map((m) => m.slice(1).join(">")).join(),
  /^(?:(?=a)a|b)+?(c)\1$/.test("abacc"), /(?<!\$)\b\d+/.exec("$5 17")[0], "ÀÉ".match(/\p{Lu}/gu).length,
  "a,b;c".split(/[,;]/), "xAyBz".replace(/[A-Z]/g, (c, at) => `<${c.toLowerCase()}${at}>`), /(a+)+b/.test("a".repeat(18)),
  "line1\nline2".match(/^l.*$/gm), /\u{1F600}/u.test("😀"), "aBc".search(/b/i),
]);

section("json", () => {
  const value = { b: [1, 2.5, -0, 1e21, null, true], a: { nested: "q\"\\\u2028é😀" }, d: new Date(0), skip: undefined, f() {}, toString: null };
  const text = JSON.stringify(value, (k, v) => (typeof v === "number" ? v * 2 : v), 1).replace(/\n\s*/g, "");
  const back = JSON.parse(text, function (k, v) { return k === "nested" ? v.length : v; });
  const circle = {}; circle.self = circle;
  let failed; try { JSON.stringify(circle); } catch (e) { failed = e.name; }
  let syntax; try { JSON.parse('{"a":1,}'); } catch (e) { syntax = e.name; }
  return [text, back.a.nested, back.b.length, failed, syntax, JSON.stringify("\ud800"), JSON.stringify({ [Symbol("x")]: 1 })];
});

section("typed arrays", () => {
  const buffer = new ArrayBuffer(64), view = new DataView(buffer);
  view.setFloat64(0, Math.PI); view.setInt16(8, -2, true); view.setBigUint64(16, 0xfedcba9876543210n); view.setFloat32(24, 0.1);
  const bytes = new Uint8Array(buffer, 0, 32), clamped = Uint8ClampedArray.of(-5, 300, 1.5, 2.5), floats = new Float32Array([0.1, 1e40, NaN]);
  let hash = 2166136261; for (const b of bytes) hash = Math.imul(hash ^ b, 16777619);
  const sorted = Int32Array.from({ length: 5000 }, () => random(100000) - 50000).sort();
  let failed; try { new Uint32Array(buffer, 3); } catch (e) { failed = e.name; }
  return [hash >>> 0, clamped, floats[0], floats, sorted[0], sorted[2500], sorted[4999], new Uint16Array(bytes.slice(8, 12).buffer), failed, new BigInt64Array(1).fill(-1n)[0]];
});

section("numbers", () => [
  0.1 + 0.2, (1234.5678).toFixed(2), (255).toString(16), (0.1).toString(3).slice(0, 12), 1e21 + 1, -0 === 0, Object.is(-0, 0), 5e-324, 2 ** 53 + 2,
  parseInt("12px"), Number("0b101"), Number(""), (25).toExponential(3), (0.00001).toPrecision(2), Math.hypot(3, 4), Math.fround(5.5), Math.clz32(1), ~~-7.9, 7 % -3, -7 % 3,
  Math.round(-0.5), Math.sign(-3), Math.trunc(4.9), Math.cbrt(27), Math.atan2(1, 1), Math.sin(1).toFixed(12), Math.exp(1).toFixed(12), Number.MAX_SAFE_INTEGER, isNaN("x"),
]);

section("big integers", () => {
  let factorial = 1n; for (let i = 2n; i <= 60n; i++) factorial *= i;
  let a = 0n, b = 1n; for (let i = 0; i < 500; i++) [a, b] = [b, a + b];
  return [factorial, a.toString().length, a % 1000000007n, BigInt.asIntN(8, 255n), (-7n) / 2n, 2n ** 200n >> 190n, (123456789n ** 5n).toString(36), -5n & 0xffn];
});

section("collections", () => {
  const words = "the lead line the deep line the mark".split(" ");
  const count = words.reduce((m, w) => m.set(w, (m.get(w) ?? 0) + 1), new Map());
  const { x: { y = 9, ...others } = {}, z: [first, , third = "t"] = [] } = { x: { q: 1, r: 2 }, z: [1, 2] };
  const list = Array.from({ length: 3000 }, () => random(1e6));
  const byText = [10, 9, 1, 100].sort(), stable = words.map((w, i) => [w.length, i]).sort((p, q) => p[0] - q[0]).map((p) => p[1]);
  list.sort((p, q) => p - q);
  return [[...count].join(";"), [...new Set(words)].join(), y, JSON.stringify(others), first, third, list[0], list[2999], byText, stable, [1, [2, [3, [4]]]].flat(2).length, Object.entries({ b: 1, 2: 2, 1: 1 }).join(";"), [3, 1, 2].toSorted().at(-1), [1, 2, 3].includes(NaN), "abc".padStart(5, "-"), [..."né😀"].length, "ß".toUpperCase(), "ｱ".normalize("NFKC")];
});

section("generators", () => {
  function* primes() { const found = []; for (let n = 2; ; n++) if (found.every((p) => n % p)) { found.push(n); const answer = yield n; if (answer) yield `told ${answer}`; } }
  const g = primes(), some = Array.from({ length: 200 }, () => g.next().value);
  function* outer() { try { yield* [1, 2]; yield* inner(); } finally { yield "cleanup"; } }
  function* inner() { yield 3; throw new Error("inner"); }
  const seen = []; try { for (const v of outer()) seen.push(v); } catch (e) { seen.push(e.message); }
  return [some[199], g.next("it").value, seen, Object.fromEntries(new Map([["a", 1]])).a];
});

section("reflection", () => {
  const log = [], proxy = new Proxy({ a: 1 }, { get: (t, k) => (log.push(`get ${String(k)}`), t[k] ?? `no ${String(k)}`), has: (t, k) => k.startsWith("a"), deleteProperty: () => false });
  const frozen = Object.freeze({ inner: { n: 1 } }); let refused; try { frozen.x = 1; } catch (e) { refused = e.name; }
  const symbol = Symbol("tag"), thing = { get [symbol]() { return "tagged"; }, [Symbol.toPrimitive]: (hint) => hint };
  return [proxy.a, proxy.zz, "abc" in proxy, Reflect.deleteProperty(proxy, "a"), log, refused, thing[symbol], `${thing}`, thing + "", +{ valueOf: () => 4 }, Reflect.ownKeys({ b: 0, 1: 0, [symbol]: 0 }).length, new Function("a", "b", "return a ** b")(2, 10)];
});

section("work", () => {
  const n = 120, a = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i * j) % 7)), c = a.map((row) => row.map((_, j) => row.reduce((s, v, k) => s + v * a[k][j], 0)));
  const memo = {}, collatz = (k) => (k === 1 ? 1 : (memo[k] ??= 1 + collatz(k % 2 ? 3 * k + 1 : k / 2)));
  let best = 0; for (let k = 1; k < 20000; k++) if (collatz(k) > collatz(best || 1)) best = k;
  let text = ""; for (let k = 0; k < 20000; k++) text += String.fromCharCode(97 + (k * k) % 26);
  const garbage = []; for (let k = 0; k < 100000; k++) { garbage[k % 100] = { k, next: garbage[(k + 1) % 100] && { k } }; }
  return [c.flat().reduce((x, y) => x + y), best, memo[best], text.split("a").length, garbage.length];
});

const order = [];
const step = (name) => new Promise((resolve) => { order.push(name); resolve(name); });
const asynchronous = async () => {
  order.push(await step("first"));
  try { await Promise.reject(new Error("rejected")); } catch (e) { order.push(e.message); }
  const settled = await Promise.allSettled([step("x"), Promise.reject(1), 3]);
  order.push(settled.map((s) => s.status[0]).join(""), await Promise.any([Promise.reject(0), step("any")]), await Promise.race([step("r1"), step("r2")]));
  for await (const v of (async function* () { yield 1; yield* [2, Promise.resolve(3)]; })()) order.push(v);
  await Promise.all(Array.from({ length: 100 }, async (_, i) => { for (let k = 0; k < 5; k++) await null; if (i % 50 === 0) order.push(`task ${i}`); }));
  return "async done";
};
asynchronous().then((v) => order.push(v)).finally(() => print("promises:", order.join(", ")));
Promise.resolve().then(() => order.push("microtask"));
order.push("synchronous end");
