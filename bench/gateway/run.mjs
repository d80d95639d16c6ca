/**
 * Compares gateways: direct upstream, a bare JSON proxy, this server and @portkey-ai/gateway, interleaved in one run.
 * What is measured and how to read it: ../README.md.
 */
import { publish, runBench, runOf, say, surroundings, versionOf } from '../bench-run.mjs';
import { messageOf, startOwn, stopAll } from './child.mjs';
import { startContestant } from './contestants.mjs';
import { figuresOf } from './figures.mjs';
import { readOptions, USAGE } from './options.mjs';
import { residentMb } from './process-cost.mjs';
import { markdown } from './report.mjs';
import { measureCell, warmUp } from './rounds.mjs';
import { judge } from './targets.mjs';

const START_TIMEOUT_MS = 10_000;

async function measure(options) {
  const result = await compare(options);
  await publish({ name: 'gateway', result, tables: markdown(result), json: options.json });
  process.exitCode = exitCodeOf(result, options);
}

async function compare(options) {
  const machine = surroundings({
    '@portkey-ai/gateway': versionOf('@portkey-ai/gateway'),
    undici: versionOf('undici'),
  });
  const startedAt = new Date();
  const upstream = startOwn('./upstream.mjs');
  const { port } = await messageOf(upstream, START_TIMEOUT_MS);
  const load = startOwn('./load.mjs');

  const contestants = [];
  for (const entry of options.contestants) {
    say(`starting ${entry.title}`);
    const contestant = await startContestant(entry, `http://127.0.0.1:${port}`);
    await warmUp(load, contestant);
    contestants.push(contestant);
  }

  const cells = [];
  for (const workload of options.workloads) {
    for (const cell of workload.cells) {
      say(`${workload.title}, ${cell.connections} at a time`);
      const { rounds, scale } = options;
      cells.push(figuresOf(await measureCell({ load, contestants, workload, cell, rounds, scale })));
    }
  }
  const processes = contestants.filter((contestant) => contestant.process);
  return {
    machine,
    ...runOf(startedAt),
    roundsPerCell: options.rounds,
    titles: Object.fromEntries(contestants.map(({ name, title }) => [name, title])),
    residentMb: Object.fromEntries(processes.map(({ name, process: { pid } }) => [name, residentMb(pid)])),
    cells,
    verdicts: judge(cells),
  };
}

/** Wrong answers are a failure anywhere but in Portkey; missed targets only when asked for. */
function exitCodeOf({ cells, verdicts }, { gate }) {
  const wrong = cells.flatMap(({ contestants }) => Object.entries(contestants)).filter(([, { errors }]) => errors > 0);
  for (const [name, { errors, faults }] of wrong) say(`${name}: ${errors} wrong answers: ${faults.join('; ')}`);
  const misses = verdicts.filter(({ verdict }) => verdict === 'MISS');
  return wrong.some(([name]) => name !== 'portkey') || (gate && misses.length > 0) ? 1 : 0;
}

await runBench({ usage: USAGE, readOptions, measure, stop: stopAll });
