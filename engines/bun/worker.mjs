// A measured thread of Bun.

import { serveThread } from '../common-js/node.mjs';
import * as host from './host.mjs';

serveThread(host);
