// What node sees of modules: the lines of `called` in main.rs. The arguments are modules
// and how often each function is called; behind each module's lines comes an empty one.
const fs = require('fs');
const [calls, ...modules] = process.argv.slice(2);

function ending(run, tag, exported) {
  try {
    return String(run());
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return 'trap';
    if (!(error instanceof WebAssembly.Exception)) throw error;
    const arities = { t0: 1, t2: 1, t3: 0, t4: 2, t5: 2 };
    for (const [name, arity] of Object.entries(arities)) {
      const own = name === 't0' ? tag : exported[name];
      if (!error.is(own)) continue;
      const values = Array.from({ length: arity }, (_, at) => error.getArg(own, at));
      return `${name}(${values.join(',')})`;
    }
    throw new Error('an exception of no tag');
  }
}

function called(module, func, arg) {
  const tag = new WebAssembly.Tag({ parameters: ['i32'] });
  const host = { tag, throw: (n) => { throw new WebAssembly.Exception(tag, [n]); } };
  const { exports } = new WebAssembly.Instance(module, { host });
  exports.random.value = func * 1000 + arg;
  const ended = ending(() => exports[`f${func}`](arg), tag, exports);
  const bytes = Array.from(new Uint8Array(exports.memory.buffer, 0, 16)).join(', ');
  return `f${func}(${arg}) ${ended} seen ${exports.seen.value} steps ${exports.steps.value} [${bytes}]`;
}

for (const path of modules) {
  const module = new WebAssembly.Module(fs.readFileSync(path));
  for (let func = 0; func < 4; func++) {
    for (let arg = 0; arg < Number(calls); arg++) console.log(called(module, func, arg));
  }
  console.log('');
}
