/** Jest runs the sources as ESM; see docs/adr/0001-the-stack.md. */
export default {
  testEnvironment: 'node',
  // A bound against hanging, not a judgement of speed: machines are shared.
  testTimeout: 120_000,
  roots: ['<rootDir>/test'],
  // Modules of a file that has run are never freed (Node 20); tests that compute take three times as long in a process that has run
  // a hundred others. Ten to twenty files are as cheap as a new process.
  workerIdleMemoryLimit: '250MB',
  testSequencer: '<rootDir>/scripts/test-sequencer.mjs',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          target: 'es2022',
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};
