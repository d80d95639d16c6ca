/**
 * One process that uses locks of one kind, by orders over IPC: `client.mjs <adapter> <options as JSON>`. An order is
 * `{id, kind, …}`, its answer `{id, answer}` or `{id, failure}`. Times are milliseconds of the machine's monotonic clock, which all
 * processes share.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ADAPTERS } from './adapters.mjs';
import { now, percentile } from './numbers.mjs';

const [name, options] = process.argv.slice(2);
const adapter = await ADAPTERS[name](JSON.parse(options));
const orders = { sections, block, unblock, queue, loop, hold, told };
let unblockHeld;
let toldAt;

process.on('message', ({ id, kind, ...order }) => {
  orders[kind](order).then(
    (answer) => process.send({ id, answer }),
    (error) => process.send({ id, failure: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ id: 0, answer: 'ready' });

/** Acquires and releases, each time another key, as many at a time as said. */
async function sections({ count, inFlight, prefix }) {
  let next = 0;
  const pairs = [];
  const startedAt = now();
  const work = async () => {
    while (next < count) {
      const key = `${prefix}:${(next += 1)}`;
      const from = now();
      await (
        await adapter.take(key)
      )();
      pairs.push(now() - from);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const perSecond = (count / (now() - startedAt)) * 1000;
  return { perSecond, p50Ms: percentile(pairs, 0.5), p99Ms: percentile(pairs, 0.99) };
}

/** Holds the key until told to let go. */
async function block({ key }) {
  unblockHeld = await adapter.take(key);
}

async function unblock() {
  const at = now();
  await unblockHeld();
  return { at };
}

/** Everyone once: each asks at its time and holds it for a while. Answers when all have had it or have given up. */
async function queue({ key, dueAt, holdMs }) {
  const once = async (at) => {
    if (at > now()) await sleep(at - now());
    const requestedAt = now();
    try {
      const release = await adapter.take(key);
      const grantedAt = now();
      await sleep(holdMs);
      const releasedAt = now();
      await release();
      return { requestedAt, grantedAt, releasedAt };
    } catch (error) {
      return { requestedAt, gaveUpAt: now(), failure: String(error?.message ?? error) };
    }
  };
  return Promise.all(dueAt.map(once));
}

/** Each worker again and again, until the end. */
async function loop({ key, workers, holdMs, endAt }) {
  const work = async () => {
    const own = { grants: 0, longestMs: 0, failures: 0 };
    while (now() < endAt) {
      const from = now();
      try {
        const release = await adapter.take(key);
        own.longestMs = Math.max(own.longestMs, now() - from);
        await sleep(holdMs);
        own.grants += 1;
        await release();
      } catch {
        // Giving up counts as a wait as well: the worker stood there for nothing.
        own.longestMs = Math.max(own.longestMs, now() - from);
        own.failures += 1;
      }
    }
    return own;
  };
  return Promise.all(Array.from({ length: workers }, work));
}

/** Takes it and keeps it; when it is told of the loss is noted. */
async function hold({ key }) {
  const askedAt = now();
  await adapter.hold(key, () => (toldAt ??= now()));
  return { askedAt };
}

async function told() {
  return { toldAt };
}
