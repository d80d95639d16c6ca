import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { messagesRequest } from '../../../src/ai/upstream/anthropic/request.translator.js';
import { writeJson, RawJson } from '../../../src/ai/wire/raw-json.js';
import { sized } from '../../support/proof-scale.js';

const SONNET = 'claude-sonnet-4-5-20250929';
const hi = [{ role: 'user', content: 'Hi' }];
const call = (input: string, id = 'call_1'): object => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: input } }],
});

/** The body that is sent, parsed. */
function sent(members: object, model = SONNET): Record<string, unknown> {
  return JSON.parse(sentText(members, model)) as Record<string, unknown>;
}

function sentText(members: object, model = SONNET): string {
  return messagesRequest({ messages: hi, ...members }, { model, maxOutputTokens: 64_000 }).text(false);
}

describe('messagesRequest()', () => {
  it('says the whole of a request in the words of the Messages API', () => {
    const request = {
      model: 'claude-sonnet-4.5',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] },
        call('{"city":"Bern"}'),
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: true } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      temperature: 0.5,
      stop: 'END',
      user: 'u-1',
      max_tokens: 100,
      service_tier: 'default',
      top_k: 5,
      stream: true,
    };
    expect(sent(request)).toEqual({
      model: SONNET,
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: { city: 'Bern' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'sunny' }] }],
        },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      temperature: 0.5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u-1' },
      service_tier: 'standard_only',
      top_k: 5,
    });
  });

  it("asks for the model's own limit where the caller sets none, and for the smaller where it sets two", () => {
    expect(sent({})).toMatchObject({ max_tokens: 64_000 });
    expect(sent({ max_tokens: 10, max_completion_tokens: 20 })).toMatchObject({ max_tokens: 10 });
  });

  it('keeps the numbers of a tool call that JavaScript could not keep', () => {
    const input = '{"id": 12345678901234567890, "price": 1.10, "nested": [1e400]}';
    expect(sentText({ messages: [...hi, call(input)] })).toContain(`"input":${input}`);
  });

  it('takes a call without arguments for one with none', () => {
    expect(sentText({ messages: [...hi, call('')] })).toContain('"input":{}');
  });

  it('sends text that could be taken for its own marks as it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (text, input) => {
        const raw = JSON.stringify(input);
        const written = writeJson({ text, raws: [new RawJson(raw), { deep: new RawJson(raw) }], after: text });
        expect(written).toBe(
          `{"text":${JSON.stringify(text)},"raws":[${raw},{"deep":${raw}}],"after":${JSON.stringify(text)}}`,
        );
      }),
      { numRuns: sized(200, 20_000) },
    );
  });

  it('makes no block of an empty text, which would be refused', () => {
    const empty = [
      { role: 'system', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'Hi' },
        ],
      },
      { ...call('{}'), content: '' },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
    ];
    const body = sent({ messages: empty });
    expect(body).not.toHaveProperty('system');
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
    ]);
  });

  it('puts instructions that stand alone where a prompt has to be', () => {
    expect(sent({ messages: [{ role: 'system', content: 'Say hello.' }] })).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
    });
    expect(sent({ messages: [{ role: 'system', content: 'Say hello.' }] })).not.toHaveProperty('system');
  });

  it('makes no turn of an answer without a word, as of a model that only thought', () => {
    const silent = { role: 'assistant', content: '', reasoning_content: 'hm' };
    expect(sent({ messages: [...hi, silent, { role: 'user', content: 'And?' }] })['messages']).toEqual([
      { role: 'user', content: ['Hi', 'And?'].map((text) => ({ type: 'text', text })) },
    ]);
  });

  it('does not spell out the default temperature, which newer models refuse', () => {
    expect(sent({ temperature: 1, top_p: 1 })).toEqual(sent({}));
    expect(sent({ temperature: 0, top_p: 0 })).toMatchObject({ temperature: 0, top_p: 0 });
  });

  it('makes ids of other providers acceptable, the same for a call and its result', () => {
    const id = 'functions.f:0';
    const text = sentText({ messages: [...hi, call('{}', id), { role: 'tool', tool_call_id: id, content: 'x' }] });
    const [used, referred] = [/"id":"([^"]*)"/.exec(text)?.[1], /"tool_use_id":"([^"]*)"/.exec(text)?.[1]];
    expect(used).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(referred).toBe(used);
  });

  it('gives thinking back as it was signed, in front', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
    const told = { role: 'assistant', content: 'Hi', reasoning_content: 'hm', thinking_blocks: [thinking] };
    expect(sent({ messages: [...hi, told] })['messages']).toMatchObject([
      {},
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Hi' }] },
    ]);
  });

  it('takes back a message as an answer carried it, empty members and all', () => {
    const told = { role: 'assistant', content: 'Hi', refusal: null, annotations: [], audio: null, function_call: null };
    expect(sent({ messages: [...hi, told] })['messages']).toMatchObject([
      {},
      { content: [{ type: 'text', text: 'Hi' }] },
    ]);
  });

  it('sends a PDF as a document', () => {
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
    expect(sent({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] })['messages']).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'a.pdf',
          },
        ],
      },
    ]);
  });

  it('asks for structured output, with its description in the schema', () => {
    const format = {
      type: 'json_schema',
      json_schema: { name: 'n', description: 'A city', strict: true, schema: { type: 'object' } },
    };
    expect(sent({ response_format: format, output_config: { effort: 'low' } })['output_config']).toEqual({
      effort: 'low',
      format: { type: 'json_schema', schema: { description: 'A city', type: 'object' } },
    });
  });

  it.each([
    [{ parallel_tool_calls: false }, undefined],
    [{ tool_choice: 'none', parallel_tool_calls: false }, { type: 'none' }],
    [{ tool_choice: 'auto', parallel_tool_calls: true }, { type: 'auto' }],
  ])('says of %j as tool_choice %j', (members, choice) => {
    expect(sent(members)['tool_choice']).toEqual(choice);
  });

  it.each([
    ['claude-sonnet-4-5-20250929', { thinking: { type: 'enabled', budget_tokens: 5_000 } }],
    ['claude-opus-4-1', { thinking: { type: 'enabled', budget_tokens: 5_000 } }],
    ['claude-sonnet-4-20250514', { thinking: { type: 'enabled', budget_tokens: 5_000 } }],
    ['claude-3-7-sonnet-latest', { thinking: { type: 'enabled', budget_tokens: 5_000 } }],
    ['claude-opus-4-6', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    ['claude-sonnet-5-5', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    ['our-own-name', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
  ])('lets %s think as it can', (model, expected) => {
    expect(sent({ reasoning_effort: 'medium', max_tokens: 10_000 }, model)).toMatchObject(expected);
  });

  it('never lets a model think away all that it may say, nor less than is possible', () => {
    expect(sent({ reasoning_effort: 'minimal', max_tokens: 2_000 })).toMatchObject({
      thinking: { budget_tokens: 1_024 },
    });
    expect(sent({ reasoning_effort: 'xhigh', max_tokens: 1_025 })).toMatchObject({
      thinking: { budget_tokens: 1_024 },
    });
    expect(() => sent({ reasoning_effort: 'low', max_tokens: 1_024 })).toThrow(
      expect.objectContaining({ param: 'reasoning_effort' }),
    );
  });

  it('switches thinking off on request', () => {
    expect(sent({ reasoning_effort: 'none' })).toMatchObject({ thinking: { type: 'disabled' } });
  });
});
