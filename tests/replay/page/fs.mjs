// What a program that is made for node asks of its file system: its module, which has come before.
const answer = await fetch('app.wasm');
const bytes = new Uint8Array(await answer.arrayBuffer());
export default { readFileSync: () => bytes };
