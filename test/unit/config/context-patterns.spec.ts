import { describe, expect, it } from '@jest/globals';
import { faultsOfFile, fileWith, loadFile, provider } from './sources.js';

const patternsOf = (contextErrorPatterns: unknown): readonly RegExp[] | undefined =>
  loadFile(fileWith({ providers: [provider({ contextErrorPatterns })] })).providers[0]?.contextErrorPatterns;

describe('contextErrorPatterns of a provider', () => {
  it('are none by default', () => {
    expect(loadFile(fileWith()).providers[0]?.contextErrorPatterns).toEqual([]);
  });

  it('are case-insensitive, and work frozen', () => {
    const [first, second] = patternsOf(['zu viele Token', '^E1042\\b']) ?? [];
    expect(first?.test('Es sind ZU VIELE TOKEN.')).toBe(true);
    expect([second?.test('e1042: too much'), second?.test('see E1042'), second?.test('E1042 again')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it.each([
    [['('], 'providers[0].contextErrorPatterns[0]: must be a regular expression'],
    [['ok', 7], 'providers[0].contextErrorPatterns[1]: must be text'],
    [[''], 'providers[0].contextErrorPatterns[0]: must be text'],
    ['no list', 'providers[0].contextErrorPatterns: must be a list'],
  ])('%j is a fault', (contextErrorPatterns, fault) => {
    expect(faultsOfFile(fileWith({ providers: [provider({ contextErrorPatterns })] }))).toEqual([
      expect.stringContaining(fault),
    ]);
  });
});
