/**
 * Runs every suite at full size and writes docs/proof/<suite>.json: `proof.mjs [--only name] [--again]`. A suite that has passed
 * on the present sources is left out, so an interrupted proof goes on where it ended; --again runs it anyway.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ProofRecords } from './proof-record.mjs';
import { PROOF_SUITES } from './proof-suites.mjs';
import { ensurePrograms } from './programs.mjs';
import { addCounts, NOTHING, runJest, summaryLine } from './run-jest.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const results = `${root}test-results/`;
const records = new ProofRecords(root);

const { values } = parseArgs({ options: { only: { type: 'string' }, again: { type: 'boolean', default: false } } });
const suites = PROOF_SUITES.filter(({ name }) => values.only === undefined || name === values.only);
if (suites.length === 0) {
  console.error(`no suite "${values.only}"; there are ${PROOF_SUITES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const { status: built } = spawnSync(process.execPath, [`${root}scripts/build.mjs`, '--if-needed'], {
  stdio: 'inherit',
});
if (built !== 0) process.exit(1);
const servers = ensurePrograms(['redis-server', 'haproxy']);
for (const complaint of Object.values(servers.complaints)) console.error(complaint);
const environment = { PROOF: 'full', ...servers.environment };

const total = suites.map(prove).reduce(addCounts, NOTHING);
console.log(summaryLine(total));
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

function prove(suite) {
  if (!values.again && records.isCurrent(suite.name)) {
    const record = records.read(suite.name);
    console.log(`${suite.name}: passed on these sources at ${record.startedAt}, left out`);
    return { ...NOTHING, passed: record.passed };
  }
  const record = run(suite);
  records.write(record);
  console.log(`${suite.name}: ${summaryLine({ ...NOTHING, ...record })} in ${record.durationSeconds} s`);
  return { ...NOTHING, passed: record.passed, failed: record.failed };
}

function run(suite) {
  const figuresFile = `${results}figures-${suite.name}.jsonl`;
  mkdirSync(results, { recursive: true });
  rmSync(figuresFile, { force: true });
  const commit = records.commit();
  const startedAt = new Date();
  const { passed, failed } = execute(suite, { ...environment, PROOF_FIGURES: figuresFile });
  return {
    suite: suite.name,
    commit,
    command: `npm run proof -- --only ${suite.name}`,
    startedAt: startedAt.toISOString(),
    durationSeconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    node: process.version,
    passed,
    failed,
    figures: readFigures(figuresFile),
  };
}

function execute({ name, jest, command }, env) {
  if (jest !== undefined) return runJest({ args: jest, resultFile: `${results}proof-${name}.json`, env });
  const [program, ...words] = command;
  const { status } = spawnSync(program, words, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return status === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 };
}

/** One JSON object per line, `{"name", "figures"}`; later lines of a name add to earlier ones. */
function readFigures(path) {
  const figures = {};
  if (!existsSync(path)) return figures;
  for (const line of readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')) {
    const record = JSON.parse(line);
    figures[record.name] = { ...figures[record.name], ...record.figures };
  }
  return figures;
}
