// The runner for SpiderMonkey: ../common-js/main.mjs with our shell as its host.
// `shell runner.mjs --check` prints what would be in force and exits with 0.

import './text.mjs';
import { main } from '../common-js/main.mjs';
import * as host from './host.mjs';

main(host, host.isCheck);
