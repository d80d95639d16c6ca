import { describe, expect, it } from '@jest/globals';
import { types } from 'node:util';
import { createContext, Script } from 'node:vm';
import { createLineRedactor } from '../../../src/observability/redaction.js';
import { regExpLiteralsUnder } from '../../support/regexp-literals.js';

/** What takes the square of it, takes many times the patience. */
const LENGTH = 100_000;
const PATIENCE_MS = 1_000;

/** Characters that a part of a pattern may repeat over. */
const USUAL = ['a', '0', ' ', '"', '.'];

const run = new Script('pattern.lastIndex = 0; text.search(pattern); text.replace(pattern, "")');
const context = createContext({});

/** Whether a text is searched in time that a linear search does not need by far. */
function isQuick(pattern: RegExp, text: string): boolean {
  Object.assign(context, { pattern, text });
  try {
    run.runInContext(context, { timeout: PATIENCE_MS });
    return true;
  } catch (error) {
    if (types.isNativeError(error) && Reflect.get(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

/** Texts that go on for long in a way that the pattern likes, and end in one that it does not. */
function* evilTexts({ source }: RegExp): Generator<string> {
  const own = source.replace(/\\[a-zA-Z]/g, '').match(/[^\\()[\]{}?*+|^$\n]/g) ?? [];
  for (const piece of new Set([...USUAL, ...own.slice(0, 12)])) yield `${piece.repeat(LENGTH)}\u0001`;
  const words = source.replace(/\\[a-zA-Z]|[\\()[\]{}?*+|^$]/g, '').slice(0, 20);
  if (words !== '') yield `${words.repeat(Math.ceil(LENGTH / words.length))}\u0001`;
}

describe('the regular expressions of src/', () => {
  const literals = regExpLiteralsUnder('src');

  it('are found', () => {
    expect(literals.length).toBeGreaterThan(150);
    expect(literals.map(({ at }) => at.split(':')[0])).toContain('src/http/request-id.ts');
  });

  it('take a long text that nearly fits in linear time', () => {
    const slow = literals.filter(({ pattern }) => [...evilTexts(pattern)].some((text) => !isQuick(pattern, text)));
    expect(slow.map(({ at, pattern }) => `${at} ${String(pattern)}`)).toEqual([]);
  });

  it('would be caught if they did not', () => {
    const planted = [/^(a+)+$/, /a+$/, /^(?:\w+\s?)*$/];
    for (const pattern of planted)
      expect([String(pattern), [...evilTexts(pattern)].every((text) => isQuick(pattern, text))]).toEqual([
        String(pattern),
        false,
      ]);
  });
});

describe('the patterns of secrets', () => {
  it('take a log line of any kind in linear time', () => {
    const redact = createLineRedactor(['a-secret-of-ours', 'aaaaaaaaaaaaaaaaaaaaaaaa']);
    for (const piece of ['a', 'sk-', 'eyJ', '://', 'bearer ', 'key=', '"', 'authorization: ', 'api-key: ', '://a:']) {
      const line = `${JSON.stringify({ msg: piece.repeat(LENGTH / piece.length) })}\n`;
      const startedAt = performance.now();
      redact(line);
      expect([piece, performance.now() - startedAt < PATIENCE_MS]).toEqual([piece, true]);
    }
  });
});
