/**
 * A fleet before a provider with limits: many requests at once, by one pod and by three, with and without coordination, and what
 * coordination costs a call. What is measured and how to read it: ../README.md.
 */
import { publish, runBench, runOf, surroundings } from '../bench-run.mjs';
import { stopAll } from '../gateway/child.mjs';
import { MODES } from './config.mjs';
import { readOptions, SIZES, USAGE } from './options.mjs';
import { measureOverhead } from './overhead.mjs';
import { markdown } from './report.mjs';
import { measureRush } from './rush.mjs';
import { openSite } from './site.mjs';
import { judge } from './targets.mjs';

const FLEETS = [1, 3];

async function measure(options) {
  const startedAt = new Date();
  const found = { rushes: [] };
  for (const pods of FLEETS) {
    const site = await openSite({ windowMs: options.windowMs, pods });
    try {
      found.machine ??= surroundings({ redis: await site.redis.version() });
      if (pods === 1 && options.parts.includes('overhead')) found.overhead = await measureOverhead(site, options);
      found.rushes.push(...(await rushes(site, options)));
    } finally {
      await stopAll();
      await site.close();
    }
  }
  const result = { ...runOf(startedAt), ...found, verdicts: judge(found) };
  await publish({ name: 'fleet', result, tables: markdown(result), json: options.json });
  process.exitCode = exitCodeOf(result, options);
}

async function rushes(site, { parts }) {
  const taken = [];
  for (const size of SIZES.filter((each) => parts.includes(each)).map(Number))
    for (const mode of MODES) taken.push(await measureRush(site, { size, mode }));
  return taken;
}

/** A wrong answer fails any run; a missed target only where it is asked for. */
function exitCodeOf({ rushes: taken, verdicts }, { gate }) {
  const hasWrong = taken.some(({ failures }) => 'a wrong answer' in failures);
  return hasWrong || (gate && verdicts.some((each) => each.verdict === 'MISS')) ? 1 : 0;
}

await runBench({ usage: USAGE, readOptions, measure, stop: stopAll });
