// A measured thread of Node.js.

import fs from 'node:fs';
import { PerformanceObserver, constants } from 'node:perf_hooks';

import { isManaged } from '../common-js/managed.mjs';
import { serveThread } from '../common-js/node.mjs';
import * as components from './component.mjs';
import * as host from './host.mjs';

/** Watches collections of this thread but those that are asked for; ends it with how long they took. */
function watchCollections() {
  const pauses = [];
  const take = (entries) => entries
    .filter((entry) => !(entry.detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED))
    .forEach((entry) => pauses.push(entry.duration * 1e6));
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return async ({ iterations }) => {
    // They are told in a turn of the event loop, of which the program has left none.
    await new Promise((resolve) => setTimeout(resolve));
    take(observer.takeRecords());
    observer.disconnect();
    return { pauses, iterations };
  };
}

serveThread(host, async (module, request) => {
  if (!(module instanceof WebAssembly.Module)) {
    await components.load(module);
    return undefined;
  }
  return isManaged(fs.readFileSync(request.module)) ? watchCollections() : undefined;
});
