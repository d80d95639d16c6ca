/** What every bench does around its measuring: its command line, where and when it ran, and where its figures go. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const MOST_ROUNDS = 20;

/** The lines of the usage text that all benches have. */
export const COMMON_USAGE = `  --json FILE      write every figure to FILE
  --gate           a missed target is a failure (exit code 1)
  --help`;

/**
 * @param {readonly string[]} args of the command line
 * @param {{known: readonly string[], rounds: number, quickRounds: number}} bench what `--only` may name, and the usual rounds
 * @returns {{quick: boolean, gate: boolean, help: boolean, json?: string, rounds: number, scale: number, names: readonly string[]}}
 *   names: those of `--only`; scale: a factor on the requests or sections
 * @throws Error that names the wrong option and the choices
 */
export function readArguments(args, { known, rounds: usual, quickRounds }) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      gate: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? quickRounds : usual));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS)
    throw new Error(`--rounds takes a whole number from 1 to ${MOST_ROUNDS}`);
  return { ...values, rounds, scale: values.quick ? 0.2 : 1, names: namesIn(values.only, known) };
}

function namesIn(only, known) {
  const names = only
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new Error(`--only: nothing is called ${unknown}; there are ${known.join(', ')}`);
  return names;
}

/** Those that are named; all where none is. */
export function chosen(all, names, nameOf = ({ name }) => name) {
  const found = all.filter((one) => names.includes(nameOf(one)));
  return found.length > 0 ? found : all;
}

/** Runs a bench from its command line; what it throws is its failure. `stop` ends what it has started, whatever happens. */
export async function runBench({ usage, readOptions, measure, stop }) {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options.help) return void console.log(usage);
    if (process.platform !== 'linux') throw new Error('this bench reads CPU time from /proc: run it on Linux');
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().then(() => process.exit(130)));
    await measure(options);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await stop();
  }
}

/** Where and with what a run is made. @param {Record<string, string>} versions of what takes part */
export function surroundings(versions) {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model,
    cpus: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg()[0],
    versions: { coordinator: versionIn('../package.json'), ...versions },
  };
}

/** The installed version of a package of this folder. */
export function versionOf(name) {
  return versionIn(`node_modules/${name}/package.json`);
}

function versionIn(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).version;
}

/** What a record says of its run. @param {Date} startedAt */
export function runOf(startedAt) {
  return {
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    command: ['node', path.relative(process.cwd(), process.argv[1]), ...process.argv.slice(2)].join(' '),
    commit: commit(),
  };
}

/** Undefined outside a git work tree. */
function commit() {
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  return git.status === 0 ? git.stdout.trim() : undefined;
}

/** Shows a result, and writes it where it is wanted. */
export async function publish({ name, result, tables, json }) {
  console.log(`\n${tables}`);
  if (json) {
    await mkdir(path.dirname(path.resolve(json)), { recursive: true });
    await writeFile(json, `${JSON.stringify(result, undefined, 2)}\n`);
    say(`wrote ${json}`);
  }
  // Where `npm run proof` collects figures.
  if (process.env.PROOF_FIGURES)
    await appendFile(process.env.PROOF_FIGURES, `${JSON.stringify({ name, figures: result })}\n`);
}

/** The order of one round: A B C, then B C A. */
export function turned(entrants, round) {
  const first = round % entrants.length;
  return [...entrants.slice(first), ...entrants.slice(0, first)];
}

/** Progress, beside the tables. */
export function say(line) {
  console.error(line);
}
