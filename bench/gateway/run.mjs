/**
 * Compares gateways: direct upstream, a bare JSON proxy, this server and @portkey-ai/gateway, interleaved in one run.
 * What is measured and how to read it: ../README.md.
 */
import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, startOwn, stopAll } from './child.mjs';
import { startContestant } from './contestants.mjs';
import { figuresOf } from './figures.mjs';
import { readOptions, USAGE } from './options.mjs';
import { residentMb } from './process-cost.mjs';
import { markdown, surroundings } from './report.mjs';
import { measureCell, warmUp } from './rounds.mjs';
import { judge } from './targets.mjs';

const START_TIMEOUT_MS = 10_000;

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return void console.log(USAGE);
  if (process.platform !== 'linux') throw new Error('this bench reads CPU time from /proc: run it on Linux');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stopAll().then(() => process.exit(130)));

  const result = await compare(options);
  console.log(`\n${markdown(result)}`);
  if (options.json) await save(options.json, result);
  // Where `npm run proof` collects figures.
  if (process.env.PROOF_FIGURES)
    await appendFile(process.env.PROOF_FIGURES, `${JSON.stringify({ name: 'gateway', figures: result })}\n`);
  process.exitCode = exitCodeOf(result, options);
}

async function compare(options) {
  const machine = surroundings();
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
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    command: ['node', 'bench/gateway/run.mjs', ...process.argv.slice(2)].join(' '),
    commit: commit(),
    roundsPerCell: options.rounds,
    titles: Object.fromEntries(contestants.map(({ name, title }) => [name, title])),
    residentMb: Object.fromEntries(processes.map(({ name, process: { pid } }) => [name, residentMb(pid)])),
    cells,
    verdicts: judge(cells),
  };
}

async function save(file, result) {
  await mkdir(path.dirname(path.resolve(file)), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
  say(`wrote ${file}`);
}

/** Wrong answers are a failure anywhere but in Portkey; missed targets only when asked for. */
function exitCodeOf({ cells, verdicts }, { gate }) {
  const wrong = cells.flatMap(({ contestants }) => Object.entries(contestants)).filter(([, { errors }]) => errors > 0);
  for (const [name, { errors, faults }] of wrong) say(`${name}: ${errors} wrong answers: ${faults.join('; ')}`);
  const misses = verdicts.filter(({ verdict }) => verdict === 'MISS');
  return wrong.some(([name]) => name !== 'portkey') || (gate && misses.length > 0) ? 1 : 0;
}

/** Undefined outside a git work tree. */
function commit() {
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  return git.status === 0 ? git.stdout.trim() : undefined;
}

function say(line) {
  console.error(line);
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await stopAll();
}
