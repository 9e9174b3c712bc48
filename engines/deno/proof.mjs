// The process that shows how bounds are checked: ../common-js/proof.mjs.

import { risk } from '../common-js/proof.mjs';
import { sys } from './sys.mjs';

risk(sys, (text) => console.log(text));
