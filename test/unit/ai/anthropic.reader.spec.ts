import { describe, expect, it } from '@jest/globals';
import { eventsOf, MessageReader } from '../../../src/ai/upstream/anthropic/message.reader.js';
import type { JsonObject } from '../../../src/ai/wire/json-value.js';

const usage = { input_tokens: 12, output_tokens: 7 };

/** The chunks of a message, of which the end is missing where it can't be told. */
function chunksOf(members: JsonObject): readonly JsonObject[] {
  const reader = new MessageReader('anthropic', 0);
  const message = { id: 'm', type: 'message', model: 'claude', content: [], usage, ...members };
  return [...eventsOf(message)].flatMap((event) => reader.read(event));
}

describe('a message of Claude', () => {
  it.each([
    ['standard', 'default'],
    ['priority', 'priority'],
    ['batch', undefined],
    ['a_tier_of_next_year', undefined],
    ['constructor', undefined],
    [null, undefined],
  ])('tells the tier that it was served at: %s is %s', (native, tier) => {
    const chunks = chunksOf({ stop_reason: 'end_turn', usage: { ...usage, service_tier: native } });
    expect(new Set(chunks.map((chunk) => chunk['service_tier']))).toEqual(new Set([tier]));
  });

  it('is an answer where something was said, also with an end that nobody knows', () => {
    for (const block of [
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 't', name: 'f', input: {} },
    ]) {
      const chunks = chunksOf({ content: [block], stop_reason: 'a_reason_of_next_year' });
      expect(chunks.at(-2)?.['choices']).toMatchObject([{ finish_reason: 'stop' }]);
    }
  });

  it('is of no use with such an end where nothing was said, though it is paid', () => {
    expect(() => chunksOf({ content: [{ type: 'text', text: '' }], stop_reason: 'a_reason_of_next_year' })).toThrow(
      expect.objectContaining({
        blame: 'deployment',
        code: 'upstream_error',
        usage: expect.objectContaining({ prompt_tokens: 12, completion_tokens: 7 }),
      }),
    );
    expect(chunksOf({ stop_reason: 'end_turn' })).toHaveLength(3);
  });
});
