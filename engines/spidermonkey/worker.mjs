// A measured thread of SpiderMonkey: a context of its own, the module shared.

import './text.mjs';
import { work } from '../common-js/worker.mjs';
import * as host from './host.mjs';

const { module, thread } = shell;
if (work({ host, module, request: JSON.parse(shell.text), thread, gate: shell })) shell.succeed();
