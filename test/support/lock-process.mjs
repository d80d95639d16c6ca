/**
 * A process that takes locks as its parent says, and tells it what came of each. What the locks guard is a number on a Redis of
 * its own, which nobody disturbs: there it shows whether they did their work. Times are those of the machine's monotonic clock,
 * which all processes share, ms.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from '../../dist/lock/index.js';
import { RedisStore } from '../../dist/store/index.js';

/** A process with nothing left has ended by then, ms. */
const END_MS = 5_000;
/** Between two looks at whether the lease is held. */
const LOOK_MS = 15;

const { storeOptions, guardAddress } = JSON.parse(process.argv[2]);
const store = new RedisStore(storeOptions);
const locks = new LockService(new RedisLockStore(store));
const guard = new Redis({ ...guardAddress, maxRetriesPerRequest: null });
const [CLAIM, LOOK, WRITE] = ['claim', 'look', 'write'].map((name) =>
  readFileSync(new URL(`./fenced-counter/${name}.lua`, import.meta.url), 'utf8'),
);
const running = new Set();
let isStopping = false;
let sections = 0;

process.on('message', (order) => {
  if (order.stop) void stop();
  else for (let task = 0; task < order.load.tasks; task += 1) start(order.load);
});
await tell({ event: 'ready' });

function start(load) {
  const task = repeat(load);
  running.add(task);
  void task.then(() => running.delete(task));
}

/** Whoever waits is served or told first; then the process ends by itself, if nothing is left behind. */
async function stop() {
  isStopping = true;
  await Promise.all(running);
  await locks.close();
  await store.close();
  await guard.quit();
  await tell({ event: 'stopped' });
  process.channel.unref();
  // Runs only where something keeps the process, which its parent finds on standard error.
  setTimeout(() => console.error(`kept by ${process.getActiveResourcesInfo().join()}`), END_MS).unref();
}

async function repeat(load) {
  for (let round = 0; round < load.rounds && !isStopping; round += 1) {
    const isGranted = await visit(load);
    await pass(isGranted ? Math.random() * load.restMs : 20 + Math.random() * 40);
  }
}

/** One wish, and the section if it is granted. */
async function visit({ keySets, modes, isScoped, holdMs, leaseMs, waitMs }) {
  const keys = pick(keySets);
  const wish = { mode: pick(modes), leaseMs, waitMs };
  const askedAt = now();
  let isSettled = false;
  const settle = (outcome) => {
    isSettled = true;
    void tell({ event: 'settled', keys, waitMs, askedAt, settledAt: now(), outcome });
  };
  const work = (lease) => {
    settle('granted');
    return section(lease, wish.mode, between(holdMs));
  };
  try {
    await (isScoped ? locks.withLock(keys, wish, work) : inLease(await locks.acquire(keys, wish), work));
  } catch (error) {
    // Anything else is a fault, and ends the process with its stack.
    if (!['LockTimeoutError', 'LockStoreError', 'LockLostError'].includes(error.name)) throw error;
    if (!isSettled) settle(error.name);
    else if (error.name !== 'LockLostError') throw error;
    return false;
  }
  return true;
}

async function inLease(lease, work) {
  try {
    await work(lease);
  } finally {
    await lease.release();
  }
}

/** Reads, works, and writes one more: what two at once would do wrong. */
async function section(lease, mode, holdMs) {
  sections += 1;
  const id = sections;
  const holds = lease.keys.map((key) => ({ key, fence: lease.fenceOf(key) }));
  const from = heldAt(lease);
  if (from === undefined) return;
  void tell({ event: 'begun', id, from, token: lease.token, holds, mode });
  let until = from;
  const isHeld = () => {
    const at = heldAt(lease);
    until = at ?? until;
    return at !== undefined;
  };
  const guarded = mode === 'exclusive' ? writing(holds) : mode === 'shared' ? reading(holds) : undefined;
  await guarded?.open();
  for (const end = now() + holdMs; now() < end && isHeld();) await pass(Math.max(0, Math.min(LOOK_MS, end - now())));
  const isDone = isHeld();
  const findings = isDone ? await guarded?.close() : undefined;
  const isHeldAfter = isHeld();
  void tell({ event: 'ended', id, until, isDone, isHeldAfter, ...findings });
}

/** The clock before the look: if it is held at the look, it was held at that time. */
function heldAt(lease) {
  const at = now();
  try {
    lease.assertHeld();
    return at;
  } catch (error) {
    if (error.name !== 'LockLostError') throw error;
    return undefined;
  }
}

function writing(holds) {
  let seen = [];
  return {
    async open() {
      seen = await Promise.all(holds.map(({ key, fence }) => guard.eval(CLAIM, 1, `n:${key}`, fence)));
    },
    async close() {
      const written = await Promise.all(
        holds.map(({ key, fence }, index) =>
          seen[index] === -1 ? 0 : guard.eval(WRITE, 2, `n:${key}`, `writes:${key}`, fence, seen[index] + 1),
        ),
      );
      return { refused: written.filter((answer) => answer === 0).length };
    },
  };
}

/** What a reader holds does not change. */
function reading([{ key, fence }]) {
  const look = () => guard.eval(LOOK, 1, `n:${key}`, fence);
  let first;
  return {
    async open() {
      [first] = await look();
    },
    async close() {
      const [last, writer] = await look();
      return first === last ? {} : { changedBy: writer };
    },
  };
}

function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function tell(message) {
  return new Promise((resolve, reject) => {
    process.send(message, (error) => (error ? reject(error) : resolve()));
  });
}

function pick(choices) {
  return choices[Math.floor(Math.random() * choices.length)];
}

function between([from, to]) {
  return from + Math.random() * (to - from);
}
