// @hpcc-js/wasm-graphviz: a graph laid out by dot.
import { check, hash, numbers } from './fixed.mjs';
import { Graphviz } from '@hpcc-js/wasm-graphviz';

const NODES = 120;
const next = numbers();
const edges = Array.from({ length: NODES - 1 }, (_, i) => `n${next() % (i + 1)} -> n${i + 1} [label="${i}"];`);
for (let more = 0; more < NODES / 2; more += 1) edges.push(`n${next() % NODES} -> n${next() % NODES};`);
const graphviz = await Graphviz.load();
const svg = graphviz.dot(`digraph { node [shape=box]; ${edges.join('\n')} }`);
check(svg.split('<g id="node').length === NODES + 1, 'nodes');
console.log(svg.length, hash(svg));
