/** The bad moments: when a holder learns that its lease is over, and when the lock of a process that is told to end is free. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openFleet } from './fleet.mjs';
import { now } from './numbers.mjs';

const LOST_LEASE_MS = 2_000;
const FROZEN_MS = 7_000;
/** What a contestant may still hear after the server has come back. */
const AFTERWARDS_MS = 2_000;
/** Shorter than its default, so that a contestant that does not release is over before long. */
const ENDED_LEASE_MS = 5_000;
const TIMEOUT_MS = 30_000;

/** All at once, since all wait for the same frozen server. @returns by entrant the ms until it was told; null: never */
export async function measureLoss(redis, entrants) {
  await redis.clear();
  const fleets = await Promise.all(
    entrants.map((entrant) => openFleet(entrant, { port: redis.port, size: 1, leaseMs: LOST_LEASE_MS })),
  );
  const asked = await Promise.all(
    fleets.map(({ first }, index) => first.ask({ kind: 'hold', key: `lost${index}` }, TIMEOUT_MS)),
  );
  redis.freeze();
  await sleep(FROZEN_MS);
  redis.thaw();
  await sleep(AFTERWARDS_MS);
  const told = await Promise.all(fleets.map(({ first }) => first.ask({ kind: 'told' }, TIMEOUT_MS)));
  await Promise.all(fleets.map((fleet) => fleet.close()));
  return byEntrant(entrants, (index) => {
    const { toldAt } = told[index];
    return toldAt === undefined ? null : toldAt - asked[index].askedAt;
  });
}

/** @returns by entrant the ms from SIGTERM to the holder until somebody else who waits has the lock */
export async function measureShutdown(redis, entrants) {
  await redis.clear();
  const took = await Promise.all(entrants.map((entrant, index) => takenOver(redis, entrant, `ended${index}`)));
  return byEntrant(entrants, (index) => took[index]);
}

async function takenOver(redis, entrant, key) {
  const options = { port: redis.port, size: 1, leaseMs: ENDED_LEASE_MS };
  const [holder, next] = await Promise.all([
    openFleet(entrant, options),
    openFleet({ ...entrant, isTuned: true }, options),
  ]);
  await holder.first.ask({ kind: 'block', key }, TIMEOUT_MS);
  const waited = next.first.ask({ kind: 'queue', key, dueAt: [now()], holdMs: 0 }, TIMEOUT_MS);
  await sleep(300);
  const endedAt = now();
  holder.first.child.kill('SIGTERM');
  const [{ grantedAt }] = await waited;
  await Promise.all([holder.close(), next.close()]);
  return grantedAt - endedAt;
}

function byEntrant(entrants, valueOf) {
  return Object.fromEntries(entrants.map(({ id }, index) => [id, valueOf(index)]));
}
