// Hosts that read their engine's switches when they start: they start a second time
// once the request is known, in the same process, with the request on their standard
// input again.

import fs from 'node:fs';

import { Failure } from './events.mjs';
import { startAgain } from './linux.mjs';

// What the process was started again with.
const MARK = 'FATHOM_ENGINE_SWITCHES';

let input = '';

/** `readInput` of a host; keeps what it read for the second start. */
export function readInput() {
  input = fs.readFileSync(0, 'utf8');
  return input;
}

/**
 * Returns at once in a process started with `switches`; else becomes `command` with
 * `variables` on top of the environment.
 */
export function ensureStartedWith(sys, addressOf, switches, command, variables = {}) {
  if (process.env[MARK] === switches) return;
  const environment = { ...process.env, ...variables, [MARK]: switches };
  startAgain(sys, addressOf, command, environment, input, Number(process.env.FATHOM_EVENTS_FD ?? 1));
  throw new Failure('internal', 'the engine cannot be started with its switches');
}
