/**
 * Compares locks on one redis-server: this module, redlock, redis-semaphore, redlock-universal and the limits, interleaved in one
 * run. What is measured and how to read it: ../README.md.
 */
import { publish, runBench, runOf, say, surroundings, versionOf } from '../bench-run.mjs';
import { CONTENDED_CELLS, measureContended } from './contended.mjs';
import { checkInstalled, entrantsOf } from './contestants.mjs';
import { stopAll } from './fleet.mjs';
import { LOOP_CELLS, measureLoop } from './loop.mjs';
import { measureLoss, measureShutdown } from './loss.mjs';
import { readOptions, USAGE } from './options.mjs';
import { startRedis } from './redis-server.mjs';
import { markdown } from './report.mjs';
import { summaries } from './rounds.mjs';
import { judge } from './targets.mjs';
import { measureUncontended, UNCONTENDED_CELLS } from './uncontended.mjs';

const PEERS = ['ioredis', 'redlock', 'redis-semaphore', 'redlock-universal'];

async function measure(options) {
  checkInstalled();
  const redis = await startRedis();
  try {
    await report(await compare(redis, options), options);
  } finally {
    await stopAll();
    await redis.stop();
  }
}

async function compare(redis, options) {
  const versions = Object.fromEntries(PEERS.map((name) => [name, versionOf(name)]));
  const machine = surroundings({ redis: await redis.version(), ...versions });
  const startedAt = new Date();
  const figures = { uncontended: [], contended: [], loops: [] };
  for (const part of options.parts) Object.assign(figures, await MEASURES[part](redis, options));
  const { contestants, rounds } = options;
  const entrants = contestants.flatMap((one) => entrantsOf([one], one.parts[0]));
  return {
    machine,
    ...runOf(startedAt),
    roundsPerCell: rounds,
    labels: Object.fromEntries(entrants.map(({ id, label }) => [id, label])),
    ...figures,
    verdicts: judge(figures),
  };
}

/** Each part adds its figures. */
const MEASURES = {
  async uncontended(redis, { contestants, rounds, scale }) {
    const entrants = entrantsOf(contestants, 'uncontended', ['default']);
    const uncontended = [];
    for (const cell of UNCONTENDED_CELLS) {
      say(`uncontended, ${cell.inFlight} at a time`);
      const taken = await measureUncontended(redis, { cell, entrants, rounds, scale });
      uncontended.push({ ...taken, entrants: summaries(taken.rounds, 'raw') });
    }
    return { uncontended };
  },

  async contended(redis, { contestants, rounds, quick }) {
    const entrants = entrantsOf(contestants, 'contended');
    const contended = [];
    for (const cell of CONTENDED_CELLS.filter(({ waiters }) => !quick || waiters < 1_000)) {
      say(`${cell.waiters} waiters in ${cell.processes} process(es)`);
      const taken = await measureContended(redis, { cell, entrants, rounds });
      contended.push({ ...taken, entrants: summaries(taken.rounds, 'bare') });
    }
    return { contended };
  },

  async loop(redis, { contestants, rounds }) {
    const entrants = entrantsOf(contestants, 'contended');
    const loops = [];
    for (const cell of LOOP_CELLS) {
      say(`${cell.workers} workers in ${cell.processes} process(es), again and again`);
      const taken = await measureLoop(redis, { cell, entrants, rounds });
      loops.push({ ...taken, entrants: summaries(taken.rounds, 'bare') });
    }
    return { loops };
  },

  async loss(redis, { contestants }) {
    const entrants = entrantsOf(contestants, 'loss', ['default']);
    say('a server that freezes, and a process that is told to end');
    return { loss: await measureLoss(redis, entrants), shutdown: await measureShutdown(redis, entrants) };
  },
};

async function report(result, options) {
  await publish({ name: 'locks', result, tables: markdown(result), json: options.json });
  const misses = result.verdicts.filter(({ verdict }) => verdict === 'MISS');
  // Two holders at once are a failure of any run; a missed target only when asked for.
  const isUnsafe = misses.some(({ target }) => target === 'two holders at once');
  process.exitCode = isUnsafe || (options.gate && misses.length > 0) ? 1 : 0;
}

await runBench({ usage: USAGE, readOptions, measure, stop: stopAll });
