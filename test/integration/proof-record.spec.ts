import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plantProject, type PlantedProject, ROOT } from '../support/planted-project.js';

describe('ProofRecords', () => {
  let project: PlantedProject;

  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: project.folder,
      encoding: 'utf8',
    });
  const commitAll = (): void => {
    git('add', '.');
    git('commit', '-q', '-m', 'Change');
  };
  const change = (path: string): Promise<void> => writeFile(join(project.folder, path), String(Math.random()));
  const isCurrent = async (): Promise<boolean> => (await project.run('ask.mjs')).output === 'true\n';

  beforeAll(async () => {
    const records = JSON.stringify(join(ROOT, 'scripts/proof-record.mjs'));
    project = await plantProject({
      '.gitignore': 'node_modules\n',
      'source.ts': '1',
      'README.md': '1',
      'docs/page.md': '1',
      'ask.mjs': `
        import { ProofRecords } from ${records};
        const records = new ProofRecords(process.cwd());
        if (process.argv[2] === 'write') records.write({ suite: 's', commit: records.commit(), failed: Number(process.argv[3]) });
        else console.log(records.isCurrent('s'));`,
    });
    git('init', '-q');
    commitAll();
  });
  afterAll(() => project.remove());

  it('holds a passed proof for current until a source changes', async () => {
    expect(await isCurrent()).toBe(false);
    await project.run('ask.mjs', 'write', '0');
    expect(await isCurrent()).toBe(true);

    await change('README.md');
    await change('docs/page.md');
    expect(await isCurrent()).toBe(true);
    commitAll();
    expect(await isCurrent()).toBe(true);

    await change('source.ts');
    expect(await isCurrent()).toBe(false);
    commitAll();
    expect(await isCurrent()).toBe(false);
  });

  it('holds a failed proof, or one of changed sources, for none', async () => {
    await project.run('ask.mjs', 'write', '1');
    expect(await isCurrent()).toBe(false);
    await change('source.ts');
    await project.run('ask.mjs', 'write', '0');
    commitAll();
    expect(await isCurrent()).toBe(false);
  });
});
