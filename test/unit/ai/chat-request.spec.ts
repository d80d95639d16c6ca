import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseChatRequest } from '../../../src/ai/call/chat-request.js';
import { sized } from '../../support/proof-scale.js';

const valid = { model: 'm', messages: [{ role: 'user', content: 'x' }] };

/** Right and wrong values for every member that is read, and one that is not. */
const odd = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    0,
    1,
    -1,
    1.5,
    '',
    'x',
    'x'.repeat(257),
    {},
    [],
    ['a'],
    [{ role: 'user' }],
    [{}],
    [null],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const MEMBERS = [
  'model',
  'models',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'cache',
];
const changes = fc.dictionary(fc.constantFrom(...MEMBERS, 'temperature'), odd, { maxKeys: 3 });

function outcomeOf(body: unknown): string {
  try {
    parseChatRequest(body, JSON.stringify(body));
    return 'taken';
  } catch (error) {
    return String(error);
  }
}

describe('parseChatRequest()', () => {
  it('decides by the values alone, whether or not the validator is asked', () => {
    fc.assert(
      fc.property(changes, (change) => {
        const body = JSON.parse(JSON.stringify({ ...valid, ...change })) as object;
        // `n: 1` changes nothing of a request, but it is never plain: the validator looks at all of it.
        const looked = 'n' in body ? body : { ...body, n: 1 };
        expect(outcomeOf(body)).toBe(outcomeOf(looked));
      }),
      { numRuns: sized(2_000, 50_000) },
    );
  });

  it.each([undefined, null, 'x', 1, []])('refuses %j, which is no object', (body) => {
    expect(() => parseChatRequest(body, JSON.stringify(body))).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('reads own members only', () => {
    expect(() => parseChatRequest(Object.create(valid), '{}')).toThrow(expect.objectContaining({ param: 'messages' }));
  });
});
