// A measured thread of Bun.

import { parentPort, workerData } from 'node:worker_threads';

import { Gate } from '../common-js/gate.mjs';
import { work } from '../common-js/worker.mjs';
import * as host from './host.mjs';

const { module, request, thread, gate } = workerData;
const done = work({ host, module, request, thread, gate: new Gate(gate, request.threads) });
parentPort.postMessage(done ? 'done' : 'failed');
