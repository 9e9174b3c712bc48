// The process that shows how bounds are checked: ../common-js/proof.mjs.

import './text.mjs';
import { risk } from '../common-js/proof.mjs';
import { print } from './host.mjs';

risk(shell.sys, print);
