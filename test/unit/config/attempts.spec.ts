import { describe, expect, it } from '@jest/globals';
import { ATTEMPT_RULES } from '../../../src/ai/call/failure.policy.js';
import { faultsOfFile, fileWith, load, loadFile } from './sources.js';

describe('attempts in coordinator.yaml', () => {
  it('are the usual ones where nothing is said, and in the shipped file', () => {
    for (const { attempts } of [load(), loadFile(fileWith()), loadFile(fileWith({ attempts: {} }))]) {
      expect(attempts).toEqual(ATTEMPT_RULES);
    }
  });

  it('are what the file says, the rest as usual', () => {
    const attempts = { perRequest: 3, perDeployment: 3, firstBackoffMs: '1s', longestBackoffMs: 1_000, patienceMs: 0 };
    expect(loadFile(fileWith({ attempts })).attempts).toEqual({ ...attempts, firstBackoffMs: 1_000 });
    expect(loadFile(fileWith({ attempts: { perDeployment: 1 } })).attempts).toEqual({
      ...ATTEMPT_RULES,
      perDeployment: 1,
    });
    expect(loadFile(fileWith({ attempts: { perRequest: 1 } })).attempts).toMatchObject({ perDeployment: 1 });
  });

  it.each<[string, object, readonly string[]]>([
    ['none at all', { perRequest: 0 }, ['attempts.perRequest: must be a positive number']],
    ['half a call', { perDeployment: 1.5 }, ['attempts.perDeployment: must be a whole number']],
    ['far too many', { perRequest: 101 }, ['attempts.perRequest: must be at most 100']],
    [
      'more at one than at all',
      { perRequest: 2, perDeployment: 3 },
      ['attempts.perDeployment: must be at most perRequest, which is for all of them'],
    ],
    [
      'a first wait longer than the longest',
      { firstBackoffMs: '5s' },
      ['attempts.firstBackoffMs: must be at most longestBackoffMs, 4s'],
    ],
    ['no wait', { firstBackoffMs: 0 }, ['attempts.firstBackoffMs: must be a duration from 1ms to 1m']],
    ['patience of an hour', { patienceMs: '1h' }, ['attempts.patienceMs: must be a duration from 0ms to 10m']],
    ['a misspelt key', { perRequests: 3 }, ['attempts.perRequests: unknown key, did you mean perRequest?']],
    [
      'several at once',
      { perRequest: -1, longestBackoffMs: 'long' },
      [
        'attempts.perRequest: must be a positive number',
        'attempts.longestBackoffMs: must be a duration such as 20s, 300ms, 2m, 1h, 1d, or a whole number of milliseconds',
      ],
    ],
  ])('are refused with their path: %s', (_case, attempts, faults) => {
    expect(faultsOfFile(fileWith({ attempts }))).toEqual(faults);
  });

  it('are refused as a list', () => {
    expect(faultsOfFile(fileWith({ attempts: [6] }))).toEqual(['attempts: must be a mapping']);
  });
});
