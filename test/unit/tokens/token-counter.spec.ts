import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TokenCounters, type TokenCounter } from '../../../src/tokens/index.js';
import { patient } from '../../support/patient-counter.js';

let counters: TokenCounters;
let o200k: TokenCounter;
let claude: TokenCounter;

beforeAll(() => {
  counters = new TokenCounters();
  o200k = patient(counters.for({ encoding: 'o200k', ratio: 1 }));
  claude = patient(counters.for({ encoding: 'claude', ratio: 1 }));
});

afterAll(() => counters.close());

const tokensOf = async (counter: TokenCounter, text: string): Promise<number> => (await counter.count(text)).tokens;

describe('TokenCounters.for()', () => {
  it('refuses a ratio that is not a positive number', () => {
    for (const ratio of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => counters.for({ encoding: 'bytes', ratio })).toThrow('ratio must be a positive number');
    }
  });
});

describe('TokenCounter.count()', () => {
  it('agrees with OpenAI on known texts', async () => {
    expect(await tokensOf(o200k, '')).toBe(0);
    expect(await tokensOf(o200k, 'hello world')).toBe(2);
    expect(await tokensOf(o200k, 'Say this is a test!')).toBe(6);
    expect(await tokensOf(o200k, '你好，世界')).toBe(3);
    expect((await o200k.count('hello world')).isEstimate).toBe(false);
  });

  it("counts in Claude's encoding, which knows fewer words of other languages", async () => {
    expect(await tokensOf(claude, 'hello world')).toBe(2);
    for (const text of ['Привет, как дела?', 'Der Mietvertrag endet mit Ablauf der Frist.']) {
      expect(await tokensOf(claude, text)).toBeGreaterThan(await tokensOf(o200k, text));
    }
  });

  it('looks up no word among what every object has', async () => {
    for (const word of ['propertyIsEnumerable', 'isPrototypeOf', 'toLocaleString', '__proto__']) {
      expect(await tokensOf(claude, word)).toBeGreaterThan(1);
    }
  });

  it('reads special-token spellings as plain text', async () => {
    for (const text of ['<|endoftext|>', 'a <|im_start|> b <|endofprompt|>', '<EOT> <META>']) {
      expect(await tokensOf(o200k, text)).toBeGreaterThan(2);
      expect(await tokensOf(claude, text)).toBeGreaterThan(2);
    }
  });

  it('never counts more tokens than there are UTF-8 bytes, lone surrogates included, and always some', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 3_000 }),
      fc.string({ unit: fc.integer({ min: 0xd7f0, max: 0xe010 }).map((code) => String.fromCharCode(code)) }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (any) => {
        for (const counter of [o200k, claude]) {
          const { tokens, isEstimate } = await counter.count(any);
          expect(isEstimate).toBe(false);
          expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(any));
          expect(tokens > 0).toBe(any !== '');
        }
      }),
    );
  });

  it('over-counts a long text by less than 1 % against its paragraphs', async () => {
    const paragraph =
      'The lease ends when its deadline has passed; 租约到期后，下一个等待者立即得到锁。 const x = { a: 1 };\n';
    for (const counter of [o200k, claude]) {
      const whole = await tokensOf(counter, paragraph.repeat(500));
      const parts = (await tokensOf(counter, paragraph)) * 500;
      expect(whole).toBeGreaterThanOrEqual(parts * 0.99);
      expect(whole).toBeLessThanOrEqual(parts * 1.01);
    }
  });

  it('multiplies by the ratio, rounds up, and tells the count without it', async () => {
    const scaled = counters.for({ encoding: 'o200k', ratio: 1.1 });
    const text = ' word'.repeat(100);
    expect(await o200k.count(text)).toMatchObject({ tokens: 100, textTokens: 100 });
    expect(await scaled.count(text)).toMatchObject({ tokens: 110, textTokens: 100 });
    expect(await tokensOf(scaled, 'hello world')).toBe(3);
  });

  it('counts UTF-8 bytes where the tokenizer is unknown, which is no estimate of ours', async () => {
    const bytes = counters.for({ encoding: 'bytes', ratio: 1 });
    expect(await bytes.count('aé漢😀')).toMatchObject({ tokens: 1 + 2 + 3 + 4, isEstimate: false });
    expect(await tokensOf(counters.for({ encoding: 'bytes', ratio: 1 / 3 }), 'a'.repeat(300))).toBe(100);
  });

  it('keeps its memory bounded over many different words', async () => {
    const before = process.memoryUsage().rss;
    for (let batch = 0; batch < 100; batch += 1) {
      const words = Array.from(
        { length: 1_000 },
        (_, index) => `${(batch * 1_000 + index).toString(36)}zq${String(index)}xj`,
      );
      await o200k.count(words.join(' '));
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});
