import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { hashKey, type Settings } from '../../../src/config/index.js';
import { ROOT } from '../../support/planted-project.js';
import { fileWith, load, loadFile } from './sources.js';

const run = (...words: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [`${ROOT}scripts/key-new.mjs`, ...words]);

/** What it prints, by line. */
async function made(...words: string[]): Promise<{ key: string; callers: Settings['callers']; lines: string[] }> {
  const lines = (await run(...words)).stdout.split('\n');
  const entry = lines.find((line) => line.startsWith('  - ')) ?? '';
  const { callers } = loadFile(fileWith({ callers: parse(entry) as unknown }));
  return { key: lines[1] ?? '', callers, lines };
}

describe('npm run key:new', () => {
  it('makes a key whose line in coordinator.yaml, and whose CALLER_KEYS, let its caller in', async () => {
    const { key, callers, lines } = await made('web', '--tier', 'pro');
    const caller = { name: 'web', tier: 'pro', scopes: ['chat'], keys: [{ sha256: hashKey(key) }] };
    expect(callers).toMatchObject([caller]);
    const variable = lines.find((line) => line.startsWith('CALLER_KEYS=')) ?? '';
    const { callers: plain, notices } = load({ environment: { CALLER_KEYS: variable.slice('CALLER_KEYS='.length) } });
    expect(plain).toMatchObject([caller]);
    expect(notices.join()).not.toContain('CALLER_KEYS');
  });

  it('makes keys of operators, and keys that end', async () => {
    const { callers, lines } = await made('ops', '--admin', '--expires', '2099-01-01');
    const expires = Date.parse('2099-01-01T00:00:00Z');
    expect(callers).toMatchObject([{ tier: 'enterprise', scopes: ['chat', 'admin'], keys: [{ expires }] }]);
    expect(lines.join()).not.toContain('CALLER_KEYS');
  });

  it('makes another key every time, which nobody can guess', async () => {
    const [one, two] = [await made('web'), await made('web')];
    expect(one.key).toMatch(/^sk-coord-[\w-]{43}$/);
    expect(two.key).not.toBe(one.key);
  });

  it.each([
    [[]],
    [['a', 'b']],
    [['anonymous']],
    [['a b']],
    [['a', '--tier', 'gold']],
    [['a', '--expires', '2001-01-01']],
    [['a', '--unknown']],
  ])('refuses %j with its usage', async (words) => {
    await expect(run(...words)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('npm run key:new') });
  });
});
