// clingo-wasm: eight queens, sixty ways.
import { check } from './fixed.mjs';
import clingo from 'clingo-wasm';

const QUEENS = `
#const n = 8.
{ queen(1..n, 1..n) } = n.
:- queen(X, Y), queen(X, Z), Y < Z.
:- queen(X, Y), queen(Z, Y), X < Z.
:- queen(X, Y), queen(Z, W), X < Z, |X - Z| = |Y - W|.
`;
const run = await clingo.init({ singleThreaded: true });
const found = run(QUEENS, 60);
check(found.Models?.Number === 60, JSON.stringify(found));
console.log(found.Models.Number);
