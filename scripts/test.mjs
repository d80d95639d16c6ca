/**
 * Runs the tests: `test.mjs [folder...] [-- Jest's arguments]`, all folders of test/ by default. Most run side by side; those that
 * judge a whole process (e2e) or its end (recovery) by threes; those that judge a whole machine (soak, chaos) alone. The last line
 * says how many passed and failed; the exit code is 0 only if some passed and none failed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensurePrograms } from './programs.mjs';
import { addCounts, NOTHING, runJest, summaryLine } from './run-jest.mjs';

const GROUPS = [
  // One more than there are cores at least, and one for the tests that wait for leases to end: test-sequencer.mjs spreads them.
  { name: 'side-by-side', workers: 4, members: ['unit', 'integration', 'simulation'] },
  // Most of their time they wait for a server to start, to end or to be missed.
  { name: 'by-threes', workers: 3, members: ['e2e', 'recovery'] },
];
const WITHOUT_REDIS = ['unit', 'simulation'];
const WITH_HAPROXY = ['chaos'];
const WITHOUT_BUILD = ['unit', 'integration', 'simulation'];
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
  try {
    const env = findServers();
    if (!folders.every((folder) => WITHOUT_BUILD.includes(folder))) buildOnce();
    const members = folders.filter((folder) => !GROUPS.some((group) => group.members.includes(folder)));
    return [...GROUPS, { name: 'alone', workers: 1, members }].map((group) => run(group, env)).reduce(addCounts);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { ...NOTHING, failed: 1 };
  }
}

function run({ name, workers, members }, env) {
  const paths = folders.filter((folder) => members.includes(folder)).map((folder) => `<rootDir>/test/${folder}`);
  if (paths.length === 0) return NOTHING;
  const how = workers === 1 ? '--runInBand' : `--maxWorkers=${workers}`;
  const args = [...jestArgs, how, '--passWithNoTests', '--roots', ...paths];
  return runJest({ args, resultFile: `${results}${name}.json`, env });
}

/** The servers that these folders need: without a Redis nothing begins; what needs HAProxy fails by itself. */
function findServers() {
  const names = [
    ...(folders.every((folder) => WITHOUT_REDIS.includes(folder)) ? [] : ['redis-server']),
    ...(folders.some((folder) => WITH_HAPROXY.includes(folder)) ? ['haproxy'] : []),
  ];
  const { environment, complaints } = ensurePrograms(names);
  if (complaints['redis-server'] !== undefined) throw new Error(complaints['redis-server']);
  if (complaints.haproxy !== undefined) console.error(complaints.haproxy);
  return environment;
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
