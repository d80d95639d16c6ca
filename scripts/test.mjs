/**
 * Runs the tests: `test.mjs [folder...] [-- Jest's arguments]`, all folders of test/ by default. Unit and integration tests and
 * simulations run side by side; those that judge a whole process (e2e, soak, chaos) run alone and one after the other. The last
 * line says how many passed and failed; the exit code is 0 only if some passed and none failed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureRedisServer } from './redis-server.mjs';
import { addCounts, NOTHING, runJest, summaryLine } from './run-jest.mjs';

const SIDE_BY_SIDE = ['unit', 'integration', 'simulation'];
/** One more than the cores that there are at least: many a test waits for its leases to end. */
const WORKERS = 3;
const WITHOUT_REDIS = ['unit', 'simulation'];
const NO_TESTS = ['support'];

const root = fileURLToPath(new URL('..', import.meta.url));
const results = `${root}test-results/`;

const { folders, jestArgs } = parseArguments(process.argv.slice(2));
rmSync(`${results}summary.txt`, { force: true });
const counts = runAll();
const isGood = counts.failed === 0 && counts.passed > 0;
if (counts.passed + counts.failed === 0) console.error('no test ran');
mkdirSync(results, { recursive: true });
writeFileSync(`${results}summary.txt`, `${summaryLine(counts)}\n`);
console.log(summaryLine(counts));
process.exitCode = isGood ? 0 : 1;

function runAll() {
  const together = folders.filter((folder) => SIDE_BY_SIDE.includes(folder));
  const alone = folders.filter((folder) => !SIDE_BY_SIDE.includes(folder));
  try {
    const env = folders.every((folder) => WITHOUT_REDIS.includes(folder)) ? {} : { REDIS_SERVER: ensureRedisServer() };
    if (alone.length > 0) buildOnce();
    return addCounts(
      run('side-by-side', together, [`--maxWorkers=${WORKERS}`], env),
      run('alone', alone, ['--runInBand'], env),
    );
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { ...NOTHING, failed: 1 };
  }
}

function run(name, group, options, env) {
  if (group.length === 0) return NOTHING;
  const paths = group.map((folder) => `<rootDir>/test/${folder}`);
  const args = [...jestArgs, ...options, '--passWithNoTests', '--roots', ...paths];
  return runJest({ args, resultFile: `${results}${name}.json`, env });
}

/** The e2e suites start dist/main.js as a user does. */
function buildOnce() {
  const { status } = spawnSync(process.execPath, [`${root}scripts/build.mjs`, '--if-needed'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed');
}

function parseArguments(words) {
  const known = readdirSync(`${root}test`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NO_TESTS.includes(entry.name))
    .map((entry) => entry.name);
  const named = words.filter((word) => known.includes(word));
  return {
    folders: named.length > 0 ? named : known,
    jestArgs: words.filter((word) => !known.includes(word) && word !== '--'),
  };
}
