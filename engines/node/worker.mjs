// A measured thread of Node.js.

import { serveThread } from '../common-js/node.mjs';
import * as components from './component.mjs';
import * as host from './host.mjs';

serveThread(host, (module) => (module instanceof WebAssembly.Module ? undefined : components.load(module)));
