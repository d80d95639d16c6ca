import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {object} JestRun
 * @property {string[]} args what to run and how: folders, patterns, options
 * @property {string} resultFile where Jest writes its JSON
 * @property {Record<string, string>} [env] on top of this process's
 * @property {string} [cwd] the project that is tested; this one by default
 */

/**
 * Runs Jest as ESM and counts what it reports. Whatever keeps a test from being counted counts as one failure: a suite that does
 * not compile, a run that dies (an unhandled rejection after the last test) or writes no result.
 *
 * @param {JestRun} run
 * @returns {Counts}
 */
export function runJest({ args, resultFile, env = {}, cwd = root }) {
  mkdirSync(dirname(resultFile), { recursive: true });
  rmSync(resultFile, { force: true });
  const { status } = spawnSync(
    process.execPath,
    [`${root}node_modules/jest/bin/jest.js`, '--json', `--outputFile=${resultFile}`, ...args],
    { cwd, env: { ...process.env, ...env, NODE_OPTIONS: nodeOptions() }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const counts = existsSync(resultFile) ? countResults(JSON.parse(readFileSync(resultFile, 'utf8'))) : NOTHING;
  if (status === 0 || counts.failed > 0) return counts;
  console.error(`Jest ended with ${status ?? 'a signal'} and without a failed test: counted as one failure`);
  return addCounts(counts, { ...NOTHING, failed: 1 });
}

/** @type {Counts} */
export const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/**
 * @param {Counts} a
 * @param {Counts} b
 * @returns {Counts}
 */
export function addCounts(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** @param {Counts} counts */
export function summaryLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function countResults(result) {
  return {
    passed: result.numPassedTests,
    // A suite that could not run, or whose afterAll() failed, has no failed test of its own.
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/** The user's own options stay; ESM in Jest needs the flag, and says on every run that it does. */
function nodeOptions() {
  const own = process.env.NODE_OPTIONS ?? '';
  const needed = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  return [own, ...needed.filter((option) => !own.includes(option))].join(' ').trim();
}
