import { describe, expect, it } from '@jest/globals';
import { parseBatch } from '../../../src/ai/batch/batch.request.js';
import { resultPieces, resultText } from '../../../src/ai/batch/batch.result.js';

const item = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const parse = (body: unknown) => parseBatch(body, JSON.stringify(body));

describe('parseBatch()', () => {
  it('takes five at once unless it is told otherwise', () => {
    expect(parse({ requests: [item] })).toMatchObject({ size: 1, concurrency: 5 });
    expect(parse({ requests: [item], concurrency: null }).concurrency).toBe(5);
    expect(parse({ requests: [item], concurrency: 50 }).concurrency).toBe(50);
  });

  it.each([
    [[], undefined],
    [{}, 'requests'],
    [{ requests: null }, 'requests'],
    [{ requests: {} }, 'requests'],
    [{ requests: [] }, 'requests'],
    [{ requests: Array(1_001).fill(item) }, 'requests'],
    [{ requests: [item], concurrency: 0 }, 'concurrency'],
    [{ requests: [item], concurrency: 51 }, 'concurrency'],
    [{ requests: [item], concurrency: 1.5 }, 'concurrency'],
    [{ requests: [item], concurrency: '5' }, 'concurrency'],
    [{ requests: [item], model: '' }, 'model'],
    [{ requests: [item], model: 5 }, 'model'],
    [{ requests: [item], model: 'm'.repeat(257) }, 'model'],
    [{ requests: [item], max_tokens: 5 }, 'max_tokens'],
    [{ requests: [item], n: 2 }, 'n'],
    [{ requests: [item], messages: [] }, 'messages'],
    [{ requests: [item], cache: false }, 'cache'],
  ])('refuses %#', (body, param) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code: 'invalid_request', ...(param && { param }) }));
  });

  it('looks at no item: each is judged when its turn comes', () => {
    const batch = parse({ model: 'm', requests: [5, null, 'x', [], {}] });
    expect([0, 1, 2, 3].map((index) => batch.item(index))).toEqual([
      { body: 5, text: '5' },
      { body: null, text: 'null' },
      { body: 'x', text: '"x"' },
      { body: [], text: '[]' },
    ]);
  });

  it('keeps each item’s text as it was written', () => {
    const [first, second] = ['{"model":"a", "seed":12345678901234567890 }', '{"x":1e2,"x":"}],[\\"","model":null}'];
    const text = `{ "requests" : [ ${first} ,\n${second} ], "model": "outer" }`;
    const batch = parseBatch(JSON.parse(text), text);
    expect(batch.item(0).text).toBe(first);
    expect(batch.item(1).text).toBe('{"x":1e2,"x":"}],[\\"","model":"outer"}');
  });

  it('reads the last of two lists, as JSON does', () => {
    const text = '{"requests":[1,2],"requests":[3]}';
    expect(parseBatch(JSON.parse(text), text).item(0)).toEqual({ body: 3, text: '3' });
  });

  it('gives its model to items that name none, neither one nor several', () => {
    const batch = parse({
      model: 'outer',
      requests: [{ a: 1 }, { model: 'own' }, { models: ['x'] }, { models: null }],
    });
    expect([0, 1, 2, 3].map((index) => batch.item(index).body)).toEqual([
      { a: 1, model: 'outer' },
      { model: 'own' },
      { models: ['x'] },
      { models: null, model: 'outer' },
    ]);
    expect(JSON.parse(batch.item(0).text)).toEqual({ a: 1, model: 'outer' });
    expect(parse({ requests: [{ a: 1 }] }).item(0).body).toEqual({ a: 1 });
  });
});

describe('resultPieces()', () => {
  const error = { message: 'no', type: 't', param: null, code: 'c', status: 400 };

  it('are the whole answer, large results in pieces that are let go', () => {
    const large = JSON.stringify({ content: 'x'.repeat(50_000) });
    const outcomes = [{ data: large }, { error }, { data: '{\n "a": 1\n}' }, { data: large }, { data: large }];
    const results = outcomes.map((outcome, index) => resultText(index, outcome));
    const pieces = [...resultPieces({ results, succeeded: 4 })];
    expect(pieces).toHaveLength(2);
    expect(results).toEqual(['', '', '', '', '']);
    const answer = JSON.parse(pieces.join('')) as { results: unknown[] };
    expect(answer).toMatchObject({ object: 'chat.completion.batch', total: 5, succeeded: 4, failed: 1 });
    expect(answer.results).toEqual(
      outcomes.map((outcome, index) =>
        'data' in outcome
          ? { index, success: true, data: JSON.parse(outcome.data) as unknown }
          : { index, success: false, error },
      ),
    );
  });
});
