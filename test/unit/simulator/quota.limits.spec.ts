import { describe, expect, it } from '@jest/globals';
import { parseLimits } from '../../../src/simulator/quota/quota.limits.js';

const DEFAULTS = { concurrency: undefined, tokenRule: 'adm', assumedOutputTokens: 1_024 };

describe('parseLimits()', () => {
  it.each(['', '  '])('measures the minute where nothing is limited: %j', (text) => {
    expect(parseLimits(text)).toEqual({ ...DEFAULTS, text, windows: [{ windowMs: 60_000 }] });
  });

  it('reads limits by the minute', () => {
    const text = 'rpm=60, tpm=90000';
    expect(parseLimits(text)).toEqual({
      ...DEFAULTS,
      text,
      windows: [{ windowMs: 60_000, requests: 60, tokens: 90_000 }],
    });
  });

  it('joins what is said of one window, and keeps several side by side', () => {
    const text = 'requests=60/1m,tokens=5/1.5s,requests=10/1500ms,window=10s,tpm=9,concurrency=5,rule=safe,output=16';
    expect(parseLimits(text)).toEqual({
      text,
      concurrency: 5,
      tokenRule: 'safe',
      assumedOutputTokens: 16,
      windows: [
        { windowMs: 60_000, requests: 60, tokens: 9 },
        { windowMs: 1_500, tokens: 5, requests: 10 },
        { windowMs: 10_000 },
      ],
    });
  });

  it.each([
    ['rpm', "'rpm' is no limit"],
    ['rmp=60', "'rmp' is no limit; known are rpm=60"],
    ['rpm=60,', "'' is no limit"],
    ['=1', "'=1' is no limit"],
    ['rpm=0', "rpm must be a whole number from 1, got '0'"],
    ['rpm=1.5', 'rpm must be'],
    ['tpm=-1', 'tpm must be'],
    ['tpm=1e6', 'tpm must be'],
    ['concurrency=', 'concurrency must be'],
    ['requests=10', 'requests: the window must be a duration'],
    ['requests=10/0', 'requests: the window must be a duration from 1ms'],
    ['requests=10/soon', "got 'soon'"],
    ['requests=1/1s/1s', "got '1/1s/1s'"],
    ['rule=fast', "rule must be one of adm, cmp, safe, got 'fast'"],
    ['rule=__proto__', 'rule must be'],
    ['constructor=1', "'constructor' is no limit"],
    ['rpm=1,requests=2/60s', 'second of its kind'],
    ['rule=adm,rule=cmp', 'second of its kind'],
  ])('refuses %j', (text, fault) => {
    expect(() => parseLimits(text)).toThrow(RangeError);
    expect(() => parseLimits(text)).toThrow(fault);
  });
});
