// A measured thread of Node.js.

import { parentPort, workerData } from 'node:worker_threads';

import { Gate } from '../common-js/gate.mjs';
import { work } from '../common-js/worker.mjs';
import * as components from './component.mjs';
import * as host from './host.mjs';

const { module, request, thread, gate } = workerData;
if (!(module instanceof WebAssembly.Module)) await components.load(module);
const done = work({ host, module, request, thread, gate: new Gate(gate, request.threads) });
parentPort.postMessage(done ? 'done' : 'failed');
