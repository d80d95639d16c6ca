import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { plantProject, type PlantedProject, ROOT } from '../support/planted-project.js';

const SUITES = {
  'good.spec.mjs': "it('passes', () => undefined); it('passes too', () => undefined);",
  'bad.spec.mjs': "it('fails', () => { throw new Error('no'); });",
  'left-out.spec.mjs': "it.skip('waits', () => undefined); it('passes', () => undefined);",
  'not-found.spec.mjs': "import './nowhere.mjs'; it('never runs', () => undefined);",
  'after-all.spec.mjs': "afterAll(() => { throw new Error('late'); }); it('passes', () => undefined);",
  'rejection.spec.mjs': "it('leaves a promise alone', () => { void Promise.reject(new Error('unhandled')); });",
  'dying.spec.mjs':
    "it('takes the process down', () => { setTimeout(() => Promise.reject(new Error('too late')), 1); });",
  'none.spec.mjs': '',
};

describe('runJest()', () => {
  let project: PlantedProject;

  beforeAll(async () => {
    const runner = JSON.stringify(join(ROOT, 'scripts/run-jest.mjs'));
    project = await plantProject({
      ...SUITES,
      'package.json': JSON.stringify({ type: 'module' }),
      'jest.config.mjs': "export default { testMatch: ['**/*.spec.mjs'], transform: {} };",
      'count.mjs': `
        import { runJest } from ${runner};
        const counts = runJest({ args: ['--runInBand', process.argv[2]], resultFile: 'results/r.json', cwd: process.cwd() });
        console.log(JSON.stringify(counts));`,
    });
  });
  afterAll(() => project.remove());

  it.each([
    ['good.spec.mjs', { passed: 2, failed: 0, skipped: 0 }],
    ['bad.spec.mjs', { passed: 0, failed: 1, skipped: 0 }],
    ['left-out.spec.mjs', { passed: 1, failed: 0, skipped: 1 }],
    ['not-found.spec.mjs', { passed: 0, failed: 1, skipped: 0 }],
    ['after-all.spec.mjs', { passed: 1, failed: 1, skipped: 0 }],
    ['rejection.spec.mjs', { passed: 0, failed: 1, skipped: 0 }],
    ['none.spec.mjs', { passed: 0, failed: 1, skipped: 0 }],
    ['no-such-file.spec.mjs', { passed: 0, failed: 1, skipped: 0 }],
  ])('counts %s as %j', async (pattern, counts) => {
    const { output } = await project.run('count.mjs', pattern);
    expect(JSON.parse(output)).toEqual(counts);
  });

  it('counts a failure where the run dies after its last test, whenever that is', async () => {
    const { output } = await project.run('count.mjs', 'dying.spec.mjs');
    expect(JSON.parse(output)).toMatchObject({ failed: 1 });
  });
});
