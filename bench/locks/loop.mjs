/** The same workers again and again on one lock: whether each gets its share, and how long one may be left standing. */
import { turned } from '../bench-run.mjs';
import { openFleet, TimedOut } from './fleet.mjs';
import { jainIndex, now, sum } from './numbers.mjs';

const HOLD_MS = 5;
const WORKERS = 50;
/** Long enough that a grant more or less hardly counts. */
const RUN_MS = 4_000;
const TIMEOUT_MS = 60_000;

/** @type {readonly { workers: number, processes: number }[]} */
export const LOOP_CELLS = [1, 4].map((processes) => ({ workers: WORKERS, processes }));

/** Every entrant once per round. @returns the cell with the figures of each round */
export async function measureLoop(redis, { cell, entrants, rounds }) {
  const taken = Object.fromEntries(entrants.map(({ id }) => [id, []]));
  for (let round = 0; round < Math.min(rounds, 2); round += 1) {
    for (const entrant of turned(entrants, round))
      taken[entrant.id].push(await measure(redis, entrant, { ...cell, runMs: RUN_MS }));
  }
  return { ...cell, holdMs: HOLD_MS, runMs: RUN_MS, rounds: taken };
}

async function measure(redis, entrant, { workers, processes, runMs }) {
  await redis.clear();
  const fleet = await openFleet(entrant, { port: redis.port, size: processes });
  const endAt = now() + runMs;
  const shareOf = (index) => Math.floor(workers / processes) + (index < workers % processes ? 1 : 0);
  const order = { kind: 'loop', key: 'loop', holdMs: HOLD_MS, endAt };
  try {
    const all = (await fleet.askAll((index) => ({ ...order, workers: shareOf(index) }), TIMEOUT_MS)).flat();
    return {
      grants: sum(all.map(({ grants }) => grants)),
      jain: jainIndex(all.map(({ grants }) => grants)),
      longestWaitMs: Math.max(...all.map(({ longestMs }) => longestMs)),
      failures: sum(all.map(({ failures }) => failures)),
    };
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    return { failures: workers, reason: error.message };
  } finally {
    await fleet.close();
  }
}
