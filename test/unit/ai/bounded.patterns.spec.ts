import { describe, expect, it, jest } from '@jest/globals';
import { Catalogue } from '../../../src/ai/catalogue/catalogue.js';
import { BoundedPatterns } from '../../../src/ai/upstream/bounded.patterns.js';
import { classifyAnswer } from '../../../src/ai/upstream/failure.classifier.js';
import { deployment, model, provider } from '../../support/catalogues.js';

/** Each takes longer than anybody waits for a text that nearly fits. */
const EVIL = [/^(a+)+$/i, /^(a|a)*$/i, /^(a|aa)+$/i, /^([a-z]+)*\d$/i, /^(.*a){40}$/i];
const NEARLY = `${'a'.repeat(1_999)}!`;

/** As if the process got the processor only at its third try. */
class KeptFromRunning extends RegExp {
  tries = 0;

  override test(words: string): boolean {
    this.tries += 1;
    while (this.tries < 3);
    return super.test(words);
  }
}

const unheard = (): void => undefined;

describe('BoundedPatterns', () => {
  it('says whether one of them fits', () => {
    const patterns = new BoundedPatterns([/^E1042\b/i, /zu viele token/i], unheard);
    expect(['e1042: no', 'Es sind ZU VIELE TOKEN', 'see E1042', ''].map((words) => patterns.test(words))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('gives none of them the time to hold the process up, and takes what ran out of it for no match', () => {
    const slow: string[] = [];
    const patterns = new BoundedPatterns(EVIL, (pattern) => slow.push(pattern));
    // Without a bound not one of these returns before the test's own limit.
    for (let message = 0; message < 3; message += 1) expect(patterns.test(NEARLY)).toBe(false);
    expect(slow).not.toEqual([]);
    expect(slow).toEqual([...new Set(slow)]);
  });

  it.each(EVIL.map((pattern) => [pattern.source, pattern] as const))(
    'bounds %s, and is as good as before',
    (_, pattern) => {
      const slow: string[] = [];
      const patterns = new BoundedPatterns([pattern, /too much/], (source) => slow.push(source));
      expect(patterns.test(NEARLY)).toBe(false);
      expect(slow).toContain(pattern.source);
      expect(patterns.test('too much')).toBe(true);
    },
  );

  it('counts against none of them what other processes did meanwhile', () => {
    const slow: string[] = [];
    const pattern = new KeptFromRunning('too much');
    // The processor was not ours while the clock went on.
    const processor = jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 500, system: 500 });
    try {
      expect(new BoundedPatterns([pattern], (source) => slow.push(source)).test('too much')).toBe(true);
    } finally {
      processor.mockRestore();
    }
    expect(pattern.tries).toBeGreaterThanOrEqual(3);
    expect(slow).toEqual([]);
  });

  it('bounds those of the configuration, and tells whose they are once', () => {
    const told: (readonly string[])[] = [];
    const catalogue = new Catalogue({
      models: [model('m', [deployment('acme')])],
      providers: [{ ...provider('acme', 'k'), contextErrorPatterns: [/^(a+)+$/i] }],
      tiers: { free: ['m'], pro: ['m'], enterprise: ['m'] },
      now: () => 0,
      ranOut: (...words) => told.push(words),
    });
    const [upstream] = catalogue.upstreams();
    if (upstream === undefined) throw new RangeError('no upstream');
    const refused = (message: string): string =>
      classifyAnswer({ provider: upstream, status: 400, headers: {}, body: { error: { message } }, now: 0 }).code;
    expect([refused(NEARLY), refused(NEARLY), refused('aaa')]).toEqual([
      'invalid_request',
      'invalid_request',
      'context_length_exceeded',
    ]);
    expect(told).toEqual([['acme', '^(a+)+$']]);
  });
});
