/**
 * What `npm run proof` runs, in this order. A suite is a folder of test/ at full size, or any other command that fails with a
 * code; both may hand figures over by PROOF_FIGURES (test/support/figures.ts).
 *
 * @typedef {object} ProofSuite
 * @property {string} name the file in docs/proof/
 * @property {string[]} [jest] arguments of Jest
 * @property {string[]} [command] words of a command
 */

/** A full-size test may take long; one that hangs still ends. */
const FULL_SIZE = ['--testTimeout=3600000'];

/** @type {readonly ProofSuite[]} */
export const PROOF_SUITES = [
  { name: 'unit', jest: ['--maxWorkers=2', ...FULL_SIZE, '--roots', '<rootDir>/test/unit'] },
  { name: 'integration', jest: ['--maxWorkers=2', ...FULL_SIZE, '--roots', '<rootDir>/test/integration'] },
  { name: 'e2e', jest: ['--runInBand', ...FULL_SIZE, '--roots', '<rootDir>/test/e2e'] },
  { name: 'simulation', jest: ['--runInBand', ...FULL_SIZE, '--roots', '<rootDir>/test/simulation'] },
  ...parted('chaos', ['chaos', 'recovery'], {
    quotas: 'quota-',
    failovers: 'failover',
    rollouts: 'rolling-|pod-kill|day-one',
  }),
  ...parted('soak', ['soak'], { fuzz: 'http-fuzz' }),
  { name: 'image', command: ['node', 'scripts/image-proof.mjs'] },
  { name: 'gateway-bench', command: ['npm', 'run', 'bench:gateway'] },
  { name: 'fleet-bench', command: ['npm', 'run', 'bench'] },
  { name: 'lock-bench', command: ['npm', 'run', 'bench:locks'] },
];

/**
 * The files of some folders, each in one suite: those that fit a pattern in a suite of that name, all others in the first.
 *
 * @param {string} name
 * @param {string[]} folders
 * @param {Record<string, string>} parts patterns of the beginnings of file names, by the names of their suites
 * @returns {ProofSuite[]}
 */
function parted(name, folders, parts) {
  const jest = ['--runInBand', ...FULL_SIZE, '--roots', ...folders.map((folder) => `<rootDir>/test/${folder}`)];
  const fits = (/** @type {string} */ beginnings) => `/(${beginnings})[^/]*$`;
  const others = { name, jest: [...jest, '--testPathIgnorePatterns', fits(Object.values(parts).join('|'))] };
  return [
    others,
    ...Object.entries(parts).map(([part, beginnings]) => ({
      name: part,
      jest: [...jest, '--testPathPatterns', fits(beginnings)],
    })),
  ];
}
