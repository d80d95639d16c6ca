/** One lock after the other, nobody in the way: what a section costs. */
import { turned } from '../bench-run.mjs';
import { openFleet } from './fleet.mjs';
import { sum } from './numbers.mjs';

const WARM_UP_SECTIONS = 3_000;
const TIMEOUT_MS = 120_000;

/** @type {readonly { inFlight: number, sections: number }[]} */
export const UNCONTENDED_CELLS = [
  { inFlight: 1, sections: 3_000 },
  { inFlight: 64, sections: 20_000 },
];

/** Every entrant once per round. @returns the cell with the figures of each round */
export async function measureUncontended(redis, { cell, entrants, rounds, scale }) {
  const count = Math.max(cell.inFlight, Math.ceil(cell.sections * scale));
  const taken = Object.fromEntries(entrants.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const entrant of turned(entrants, round)) {
      taken[entrant.id].push(await measure(redis, entrant, { count, inFlight: cell.inFlight }));
    }
  }
  return { ...cell, sections: count, rounds: taken };
}

async function measure(redis, entrant, { count, inFlight }) {
  const fleet = await openFleet(entrant, { port: redis.port, size: 1 });
  const run = (prefix, sections) =>
    fleet.first.ask({ kind: 'sections', prefix, count: sections, inFlight }, TIMEOUT_MS);
  await run('warm', WARM_UP_SECTIONS);
  await redis.clear();
  const before = { client: fleet.cpuMicros(), redis: redis.cpuMicros() };
  const figures = await run('measured', count);
  const clientMicros = (fleet.cpuMicros() - before.client) / count;
  const redisMicros = (redis.cpuMicros() - before.redis) / count;
  const calls = await redis.calls();
  await fleet.close();
  const commands = sum(entrant.commands.map((name) => calls.get(name) ?? 0)) / count;
  return { ...figures, clientMicros, redisMicros, commands };
}
