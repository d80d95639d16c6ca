import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { loadTokenCounter, type TokenCounter } from '../../../src/tokens/index.js';

let o200k: TokenCounter;

beforeAll(async () => {
  o200k = await loadTokenCounter({ encoding: 'o200k', ratio: 1 });
});

describe('loadTokenCounter()', () => {
  it('refuses a ratio that is not a positive number', async () => {
    for (const ratio of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(loadTokenCounter({ encoding: 'bytes', ratio })).rejects.toThrow('ratio must be a positive number');
    }
  });
});

describe('TokenCounter.count()', () => {
  it('agrees with OpenAI on known texts', () => {
    expect(o200k.count('')).toBe(0);
    expect(o200k.count('hello world')).toBe(2);
    expect(o200k.count('Say this is a test!')).toBe(6);
    expect(o200k.count('你好，世界')).toBe(3);
  });

  it('reads special-token spellings as plain text', () => {
    expect(o200k.count('<|endoftext|>')).toBeGreaterThan(1);
    expect(o200k.count('a <|im_start|> b <|endofprompt|>')).toBeGreaterThan(5);
  });

  it('accepts lone surrogates anywhere', () => {
    expect(o200k.count('\ud800')).toBeGreaterThan(0);
    expect(o200k.count(`${'x'.repeat(255)}\udc00${'y'.repeat(2_000)}\ud83d`)).toBeGreaterThan(0);
  });

  it('never counts more tokens than there are UTF-8 bytes, and text together never less than nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
        const tokens = o200k.count(text);
        expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
        expect(tokens > 0).toBe(text !== '');
      }),
    );
  });

  // Byte-pair merging is quadratic in an unbroken run: unguarded, each of these outlives the runner's time limit by minutes.
  it.each(['a', '_', ' ', '\n', '漢', '😀', 'ab', '\ud800'])(
    'counts a megabyte of %j without a quadratic blow-up',
    (unit) => {
      const run = unit.repeat(Math.ceil(1_000_000 / Buffer.byteLength(unit)));
      expect(o200k.count(run)).toBeGreaterThan(1_000);
    },
  );

  it('over-counts a long text by less than 1 % against its paragraphs', () => {
    const paragraph =
      'The lease ends when its deadline has passed; 租约到期后，下一个等待者立即得到锁。 const x = { a: 1 };\n';
    const whole = o200k.count(paragraph.repeat(500));
    const parts = o200k.count(paragraph) * 500;
    expect(whole).toBeGreaterThanOrEqual(parts * 0.99);
    expect(whole).toBeLessThanOrEqual(parts * 1.01);
  });

  it('multiplies by the ratio and rounds up', async () => {
    const claude = await loadTokenCounter({ encoding: 'o200k', ratio: 1.1 });
    const text = ' word'.repeat(100);
    expect(o200k.count(text)).toBe(100);
    expect(claude.count(text)).toBe(110);
    expect(claude.count('hello world')).toBe(3);
  });

  it('counts UTF-8 bytes where the tokenizer is unknown', async () => {
    const bytes = await loadTokenCounter({ encoding: 'bytes', ratio: 1 });
    expect(bytes.count('aé漢😀')).toBe(1 + 2 + 3 + 4);
    const third = await loadTokenCounter({ encoding: 'bytes', ratio: 1 / 3 });
    expect(third.count('a'.repeat(300))).toBe(100);
  });

  it('keeps its memory bounded over many different words', () => {
    const before = process.memoryUsage().rss;
    for (let batch = 0; batch < 100; batch += 1) {
      o200k.count(
        Array.from({ length: 1_000 }, (_, index) => `${(batch * 1_000 + index).toString(36)}zq${String(index)}xj`).join(
          ' ',
        ),
      );
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe('TokenCounter.countRequest()', () => {
  const user = (content: unknown): unknown => ({ messages: [{ role: 'user', content }] });

  it('adds 3 per message, its role, and 3 for the reply, as OpenAI bills', async () => {
    expect(await o200k.countRequest(user('Say this is a test!'))).toBe(6 + 3 + 1 + 3);
    const two = {
      messages: [
        { role: 'system', content: 'hello world' },
        { role: 'user', name: 'Bob', content: 'hello' },
      ],
    };
    expect(await o200k.countRequest(two)).toBe(3 + 1 + 2 + (3 + 1 + 1 + 1 + 1) + 3);
  });

  it('counts text parts as text and an image as a fixed number, whatever its base64', async () => {
    const text = await o200k.countRequest(user([{ type: 'text', text: 'hello world' }]));
    expect(text).toBe(await o200k.countRequest(user('hello world')));
    const image = (bytes: number): unknown => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` },
    });
    const small = await o200k.countRequest(user([image(10)]));
    expect(await o200k.countRequest(user([image(2_000_000)]))).toBe(small);
    expect(small).toBe(765 + 7);
    const low = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } };
    expect(await o200k.countRequest(user([low]))).toBe(85 + 7);
  });

  it('does not multiply pictures by the ratio', async () => {
    const double = await loadTokenCounter({ encoding: 'o200k', ratio: 2 });
    const body = user([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]);
    expect(await double.countRequest(body)).toBe(765 + 14);
  });

  it('counts tool schemas, tool calls and an output schema', async () => {
    const plain = await o200k.countRequest(user('hi'));
    const tools = [
      {
        type: 'function',
        function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
      },
    ];
    const withTools = await o200k.countRequest({ ...Object(user('hi')), tools });
    expect(withTools).toBeGreaterThan(plain + 20);
    const format = {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } } } },
    };
    expect(await o200k.countRequest({ ...Object(user('hi')), response_format: format })).toBeGreaterThan(plain + 10);
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    expect(await o200k.countMessage(message)).toBeGreaterThan(10 + 5);
  });

  it('is the sum of its messages and the priming', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '你好 😀' },
      { role: 'assistant', content: 'Hello!' },
    ];
    const each = await Promise.all(messages.map((message) => o200k.countMessage(message)));
    expect(await o200k.countRequest({ messages })).toBe(each.reduce((sum, tokens) => sum + tokens, 3));
  });

  it('answers a finite number for any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (any, content) => {
        for (const body of [
          any,
          { messages: any, tools: any, response_format: { json_schema: any } },
          user(content),
          user([content]),
        ]) {
          expect(Number.isInteger(await o200k.countRequest(body))).toBe(true);
        }
      }),
    );
  });

  it('survives nesting that would overflow a recursive walk', async () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    expect(await o200k.countRequest({ tools: [{ function: deep }] })).toBeGreaterThan(20_000);
  });

  it('lets other work run while it counts a long request', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await o200k.countRequest(user('lorem ipsum dolor '.repeat(50_000)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});
