import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/planted-project.js';

const SECURITY = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const ROWS = SECURITY.split('\n').filter((line) => /^\| API\d/.test(line));

/** The test files that a text names. */
function testsIn(text: string): readonly string[] {
  return [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
}

describe('SECURITY.md', () => {
  it('has a row for each of the OWASP API Security Top 10, in their order', () => {
    expect(ROWS.map((row) => /^\| (API\d+) /.exec(row)?.[1])).toEqual(
      Array.from({ length: 10 }, (_, index) => `API${String(index + 1)}`),
    );
  });

  it('names a test for each of them, and only tests that there are', () => {
    expect(ROWS.filter((row) => testsIn(row).length === 0)).toEqual([]);
    expect(testsIn(SECURITY).filter((path) => !path.endsWith('.spec.ts') || !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('links to files that there are', () => {
    const links = [...SECURITY.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(1);
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
