// jq-web: a filter over five thousand objects.
import { check, numbers } from './fixed.mjs';
import jqWeb from 'jq-web';

const next = numbers();
const items = Array.from({ length: 5000 }, (_, id) => ({
  id, user: `user${next() % 50}`, price: (next() % 10000) / 100, tags: [`t${next() % 7}`, `t${next() % 11}`],
}));
const jq = await jqWeb;
const filter = `group_by(.user) | map({user: .[0].user, total: (map(.price) | add | floor), tags: (map(.tags[]) | unique | length)})
  | sort_by(-.total) | map(select(.user | test("[0-4]$")))`;
const found = await jq.json(items, filter);
check(found.length === 25, 'half of the users');
console.log(JSON.stringify(found[0]));
