/**
 * Preloaded into a server under test (`--expose-gc --import`): answers every message of the parent with what the process still
 * holds after garbage collection.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** What one collection frees only now is garbage for the next: finalizers, weak references. */
const COLLECTIONS = 6;

// Opened on first use, which must not look like something left behind.
if (!process.stdout.writable || !process.stderr.writable) throw new Error('no output');

process.on('message', () => {
  void read().then((reading) => process.send?.(reading));
});

async function read() {
  for (let count = 0; count < COLLECTIONS; count += 1) {
    globalThis.gc();
    await nextTurn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapUsed, external, rss, resources: process.getActiveResourcesInfo() };
}
