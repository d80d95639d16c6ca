/** Everybody wants the same lock, once, and holds it for 5 ms: what handing it on costs, and in which order it goes. */
import { turned } from '../bench-run.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFleet, TimedOut } from './fleet.mjs';
import { kendallTau, now, percentile, sum } from './numbers.mjs';

const KEY = 'contended';
const HOLD_MS = 5;
const WARM_UP_SECTIONS = 300;
/** Between two requests, of whichever process: they come in a rush, but far enough apart to have an order. */
const SPACING_MS = { 50: 2, 200: 2, 1_000: 1 };
const SETTLE_MS = 50;
const START_MS = 30;
/** A contestant that takes longer for a cell has failed it. */
const LIMIT_MS = 60_000;

/** @type {readonly { waiters: number, processes: number, rounds: number }[]} rounds: at most so many */
export const CONTENDED_CELLS = [50, 200, 1_000].flatMap((waiters) =>
  [1, 4].map((processes) => ({ waiters, processes, rounds: { 50: 5, 200: 3, 1_000: 1 }[waiters] })),
);

/** Every entrant once per round. @returns the cell with the figures of each round */
export async function measureContended(redis, { cell, entrants, rounds }) {
  const taken = Object.fromEntries(entrants.map(({ id }) => [id, []]));
  for (let round = 0; round < Math.min(rounds, cell.rounds); round += 1) {
    for (const entrant of turned(entrants, round)) taken[entrant.id].push(await measure(redis, entrant, cell));
  }
  return { ...cell, holdMs: HOLD_MS, rounds: taken };
}

async function measure(redis, entrant, { waiters, processes }) {
  const fleet = await openFleet(entrant, { port: redis.port, size: processes });
  try {
    const warmUp = { kind: 'sections', count: WARM_UP_SECTIONS, inFlight: 8 };
    await fleet.askAll((index) => ({ ...warmUp, prefix: `warm${index}` }), LIMIT_MS);
    await redis.clear();
    const before = redis.cpuMicros();
    const { requests, unblockedAt } = await rush(fleet, waiters);
    const redisMicros = redis.cpuMicros() - before;
    const calls = await redis.calls();
    const commands = sum(entrant.commands.map((name) => calls.get(name) ?? 0));
    return figuresOf(requests, { unblockedAt, redisMicros, commands });
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    return { failures: waiters, reason: error.message };
  } finally {
    await fleet.close();
  }
}

/** Somebody has it until all the others have asked for it. */
async function rush(fleet, waiters) {
  const { clients } = fleet;
  await fleet.first.ask({ kind: 'block', key: KEY }, LIMIT_MS);
  const startAt = now() + START_MS;
  const dueAt = Array.from({ length: waiters }, (_, index) => startAt + index * SPACING_MS[waiters]);
  const dueOf = (client) => dueAt.filter((_, index) => index % clients.length === client);
  const asked = fleet.askAll(
    (client) => ({ kind: 'queue', key: KEY, dueAt: dueOf(client), holdMs: HOLD_MS }),
    LIMIT_MS,
  );
  await Promise.race([sleep(dueAt.at(-1) - now() + SETTLE_MS), asked]);
  const { at } = await fleet.first.ask({ kind: 'unblock' }, LIMIT_MS);
  return { requests: (await asked).flat(), unblockedAt: at };
}

/** Hand-off: from the release, as the holder begins it, until the next one has it. */
function figuresOf(requests, { unblockedAt, redisMicros, commands }) {
  const grants = requests
    .filter(({ grantedAt }) => grantedAt !== undefined)
    .toSorted((a, b) => a.grantedAt - b.grantedAt);
  const failures = requests.length - grants.length;
  if (grants.length === 0) return { failures };
  const freedAt = [unblockedAt, ...grants.map(({ releasedAt }) => releasedAt)];
  const handOffs = grants.map(({ grantedAt }, index) => grantedAt - freedAt[index]);
  const holdingMs = sum(grants.map(({ grantedAt, releasedAt }) => releasedAt - grantedAt));
  return {
    handOffP50Ms: percentile(handOffs, 0.5),
    handOffP99Ms: percentile(handOffs, 0.99),
    efficiency: holdingMs / (grants.at(-1).releasedAt - unblockedAt),
    // Whoever held it at the start is a grant as well.
    commands: commands / (grants.length + 1),
    redisMicros: redisMicros / (grants.length + 1),
    kendallTau: kendallTau(grants.map(({ requestedAt }) => requestedAt)),
    longestWaitMs: Math.max(...grants.map(({ requestedAt, grantedAt }) => grantedAt - requestedAt)),
    overlaps: handOffs.filter((handOff) => handOff < 0).length,
    failures,
  };
}
