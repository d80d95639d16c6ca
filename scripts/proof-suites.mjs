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
  { name: 'chaos', jest: ['--runInBand', ...FULL_SIZE, '--roots', '<rootDir>/test/chaos', '<rootDir>/test/recovery'] },
  { name: 'soak', jest: ['--runInBand', ...FULL_SIZE, '--roots', '<rootDir>/test/soak'] },
  { name: 'image', command: ['node', 'scripts/image-proof.mjs'] },
  { name: 'gateway-bench', command: ['npm', 'run', 'bench:gateway'] },
  { name: 'fleet-bench', command: ['npm', 'run', 'bench'] },
  { name: 'lock-bench', command: ['npm', 'run', 'bench:locks'] },
];
