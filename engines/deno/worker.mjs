// A measured thread of Deno.

import { serveThread } from '../common-js/node.mjs';
import * as host from './host.mjs';

serveThread(host);
