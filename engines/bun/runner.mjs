// The runner for Bun: ../common-js/main.mjs with Bun as its host.
// `bun runner.mjs --check` prints what would be in force and exits with 0.

import { main } from '../common-js/main.mjs';
import * as host from './host.mjs';

main(host, process.argv[2] === '--check');
