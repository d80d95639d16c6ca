import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { plantProject, ROOT, type PlantedProject } from '../../support/planted-project.js';

const SOURCES = join(ROOT, 'src/tokens');

/** Scripts that count as a built server does, and say what they found. */
const SCRIPTS = {
  'exact.mjs': `
    import { TokenCounters } from './tokens/index.js';
    const before = process.memoryUsage().heapUsed;
    const counter = new TokenCounters().for({ encoding: 'o200k', ratio: 1 });
    const { tokens, isEstimate } = await counter.count('hello world', { patienceMs: 600_000 });
    const hasGrown = process.memoryUsage().heapUsed - before > 8_000_000;
    console.log(JSON.stringify({ tokens, isEstimate, hasGrown }));
  `,
  'left-running.mjs': `
    import { TokenCounters } from './tokens/index.js';
    void new TokenCounters().for({ encoding: 'o200k', ratio: 1 }).count('a '.repeat(100_000)).then(() => console.log('counted'));
  `,
  'exit.mjs': `
    import { TokenCounters } from './tokens/index.js';
    void new TokenCounters().for({ encoding: 'claude', ratio: 1 }).count('a '.repeat(1_000_000));
    setTimeout(() => process.exit(7), 10);
  `,
};

let project: PlantedProject;

beforeAll(async () => {
  const files: Record<string, string> = { 'package.json': '{"type":"module"}', ...SCRIPTS };
  for (const name of await readdir(SOURCES)) {
    const text = await readFile(join(SOURCES, name), 'utf8');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
    files[`tokens/${name.replace(/\.ts$/, '.js')}`] = name.endsWith('.ts')
      ? ts.transpileModule(text, { compilerOptions }).outputText
      : text;
  }
  project = await plantProject(files);
});

afterAll(() => project.remove());

describe('The built tokens/', () => {
  it('has its thread beside it: the build copies the file', async () => {
    const settings: unknown = JSON.parse(await readFile(join(ROOT, 'nest-cli.json'), 'utf8'));
    const assets: unknown = expect.arrayContaining([{ include: '**/*.worker.mjs', watchAssets: true }]);
    expect(settings).toMatchObject({ compilerOptions: { assets } });
    const plain = (await readdir(SOURCES)).filter((name) => !name.endsWith('.ts'));
    expect(plain).toEqual(['counting.worker.mjs']);
  });

  it('counts exactly, ends by itself, and never holds a vocabulary in the main thread', async () => {
    const { code, output, errors } = await project.run('exact.mjs');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(JSON.parse(output)).toEqual({ tokens: 2, isEstimate: false, hasGrown: false });
  });

  it('keeps the process alive while it counts, and no longer', async () => {
    expect(await project.run('left-running.mjs')).toEqual({ code: 0, output: 'counted\n', errors: '' });
  });

  it('ends with a process that exits in the middle of a count', async () => {
    expect(await project.run('exit.mjs')).toEqual({ code: 7, output: '', errors: '' });
  });
});
