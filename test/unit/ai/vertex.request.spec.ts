import { describe, expect, it } from '@jest/globals';
import { writeJson } from '../../../src/ai/wire/raw-json.js';
import { geminiRequest } from '../../../src/ai/upstream/vertex/gemini.request.js';

const FLASH = 'google/gemini-2.5-flash';
const NEWER = 'gemini-3.5-flash-lite';
const hi = [{ role: 'user', content: 'Hi' }];

/** As it goes over the line. */
function request(members: Record<string, unknown>, model = FLASH): Record<string, unknown> {
  return JSON.parse(writeJson(geminiRequest({ model: 'any', messages: hi, ...members }, model))) as Record<
    string,
    unknown
  >;
}
const config = (members: Record<string, unknown>, model = FLASH): unknown =>
  request(members, model)['generationConfig'];
const tool = (name: string, more: object = {}): object => ({ type: 'function', function: { name, ...more } });
const call = (id: string, name: string, more: object = {}): object => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
  ...more,
});

describe('a request to Gemini', () => {
  it('holds nothing that was not asked for', () => {
    expect(request({})).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] });
  });

  it('has a counterpart for each member that steers the answer', () => {
    expect(
      config({
        temperature: 0,
        top_p: 0.5,
        seed: 7,
        n: 3,
        max_tokens: 50,
        max_completion_tokens: 40,
        stop: 'END',
        presence_penalty: 0.5,
        frequency_penalty: -0.5,
        logprobs: true,
        top_logprobs: 4,
        response_format: { type: 'json_object' },
      }),
    ).toEqual({
      temperature: 0,
      topP: 0.5,
      seed: 7,
      candidateCount: 3,
      maxOutputTokens: 40,
      stopSequences: ['END'],
      presencePenalty: 0.5,
      frequencyPenalty: -0.5,
      responseLogprobs: true,
      logprobs: 4,
      responseMimeType: 'application/json',
    });
  });

  it('passes a schema as it is, with its description', () => {
    const schema = { $defs: { a: { type: 'string' } }, type: 'object', additionalProperties: false };
    const format = { type: 'json_schema', json_schema: { name: 'x', description: 'A thing', schema, strict: true } };
    expect(config({ response_format: format })).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { description: 'A thing', ...schema },
    });
  });

  it.each([
    ['none', FLASH, { thinkingBudget: 0 }],
    ['minimal', FLASH, { thinkingBudget: 1_024, includeThoughts: true }],
    ['low', FLASH, { thinkingBudget: 1_024, includeThoughts: true }],
    ['medium', FLASH, { thinkingBudget: 8_192, includeThoughts: true }],
    ['high', FLASH, { thinkingBudget: 24_576, includeThoughts: true }],
    ['minimal', 'google/gemini-3-pro-preview', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['minimal', 'gemini-3.1-pro', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['minimal', 'gemini-2.5-pro', { thinkingBudget: 1_024, includeThoughts: true }],
    ['none', 'gemini-2.5-flash-lite', { thinkingBudget: 0 }],
    ['minimal', NEWER, { thinkingLevel: 'MINIMAL', includeThoughts: true }],
    ['low', 'google/gemini-3-pro', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['medium', 'gemini-10.1', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['high', NEWER, { thinkingLevel: 'HIGH', includeThoughts: true }],
  ])('says the effort %s to %s as it wants to be told', (effort, model, thinkingConfig) => {
    expect(config({ reasoning_effort: effort }, model)).toEqual({ thinkingConfig });
  });

  it.each(['gemini-2.5-pro', 'google/gemini-2.5-pro', NEWER, 'google/gemini-3-pro-preview'])(
    'does not tell %s not to think, which it would do all the same',
    (model) => {
      expect(() => request({ reasoning_effort: 'none' }, model)).toThrow(
        expect.objectContaining({ param: 'reasoning_effort', why: expect.stringContaining(model) }),
      );
    },
  );

  it('puts instructions that stand alone where a prompt has to be', () => {
    const messages = [{ role: 'system', content: 'Say hello.' }];
    expect(request({ messages })).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
  });

  it.each([
    ['data:image/PNG;base64,iVBORw0KGgo=', { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
    ['data:image/svg+xml;charset=utf-8,%3Csvg/%3E', { inlineData: { mimeType: 'image/svg+xml', data: 'PHN2Zy8+' } }],
    ['gs://bucket/a/cat.JPG', { fileData: { fileUri: 'gs://bucket/a/cat.JPG', mimeType: 'image/jpeg' } }],
    ['https://x.example/a.webp?w=1', { fileData: { fileUri: 'https://x.example/a.webp?w=1', mimeType: 'image/webp' } }],
  ])('shows the image at %s', (url, part) => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    expect(request({ messages })).toEqual({ contents: [{ role: 'user', parts: [part] }] });
  });

  it('plays audio and shows files', () => {
    const content = [
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    ];
    expect(request({ messages: [{ role: 'user', content }] })['contents']).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
        ],
      },
    ]);
  });

  it.each([
    [['low', 'low'], 'MEDIA_RESOLUTION_LOW'],
    [['low', 'high'], 'MEDIA_RESOLUTION_HIGH'],
    [['low', undefined], undefined],
    [['auto'], undefined],
  ])('looks at images with the details %j as closely as %s', (details, mediaResolution) => {
    const content = details.map((detail) => ({
      type: 'image_url',
      image_url: { url: 'https://x.example/a.png', detail },
    }));
    const found = config({ messages: [{ role: 'user', content }] });
    expect(found).toEqual(mediaResolution === undefined ? undefined : { mediaResolution });
  });

  it.each([
    [undefined, [tool('f')], undefined],
    [undefined, [tool('f', { strict: true })], { mode: 'VALIDATED' }],
    ['auto', [tool('f', { strict: true })], { mode: 'VALIDATED' }],
    ['required', [tool('f', { strict: true })], { mode: 'ANY' }],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('f')] } },
      [tool('f'), tool('g')],
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('f'), tool('g')] } },
      [tool('f'), tool('g')],
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
    ],
  ])('says the choice %j among %j', (choice, tools, functionCallingConfig) => {
    expect(request({ tools, tool_choice: choice })['toolConfig']).toEqual(
      functionCallingConfig && { functionCallingConfig },
    );
  });

  it('names a user by a label', () => {
    expect(request({ user: 'user_7-a' })['labels']).toEqual({ user: 'user_7-a' });
    const { labels } = request({ safety_identifier: 'Ann <ann@example.com>' });
    expect(labels).toEqual({ user: expect.stringMatching(/^[0-9a-f]{63}$/) });
    expect(request({ user: 'Ann <ann@example.com>' })['labels']).toEqual(labels);
  });

  it('keeps the arguments of a call to the last digit', () => {
    const args = '{"id": 12345678901234567890, "n": 1.0}';
    const messages = [
      ...hi,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ ...call('c', 'f'), function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c', content: '{"id": 12345678901234567890}' },
    ];
    const text = writeJson(geminiRequest({ messages }, FLASH));
    expect(text).toContain(`"functionCall":{"name":"f","args":${args}}`);
    expect(text).toContain(JSON.stringify({ output: '{"id": 12345678901234567890}' }));
  });
});

describe('signatures of thoughts', () => {
  const signed = (thought_signature: string): object => ({ extra_content: { google: { thought_signature } } });
  const partsOf = (message: object, model: string): unknown => {
    const { contents } = request({ messages: [...hi, { role: 'assistant', ...message }] }, model);
    return (contents as { parts: unknown }[])[1]?.parts;
  };

  it('go back with the call and the text that they came with', () => {
    const message = {
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: [call('a', 'f', signed('sig-call')), call('b', 'g', { index: 1 })],
      ...signed('sig-text'),
    };
    for (const model of [FLASH, NEWER]) {
      expect(partsOf(message, model)).toEqual([
        { text: 'Hm.', thought: true },
        { text: 'I look.', thoughtSignature: 'sig-text' },
        { functionCall: { name: 'f', args: {} }, thoughtSignature: 'sig-call' },
        { functionCall: { name: 'g', args: {} } },
      ]);
    }
  });

  it('go back also where nothing was said', () => {
    expect(partsOf({ content: '', ...signed('sig') }, FLASH)).toEqual([{ text: '', thoughtSignature: 'sig' }]);
  });

  it('are said to be missing to a model that asks for them, once for the calls of one turn', () => {
    const message = { content: null, tool_calls: [call('toolu_1', 'f'), call('toolu_2', 'g')] };
    expect(partsOf(message, NEWER)).toEqual([
      { functionCall: { name: 'f', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
      { functionCall: { name: 'g', args: {} } },
    ]);
    expect(partsOf(message, FLASH)).toEqual([
      { functionCall: { name: 'f', args: {} } },
      { functionCall: { name: 'g', args: {} } },
    ]);
  });

  it('are no matter where a message is as it came from elsewhere', () => {
    const message = { content: 'Hi', refusal: null, annotations: [], audio: null, function_call: null };
    expect(partsOf(message, NEWER)).toEqual([{ text: 'Hi' }]);
    expect(request({ messages: [...hi, { role: 'assistant', content: '' }] })['contents']).toHaveLength(1);
    expect(partsOf({ refusal: 'No.' }, NEWER)).toEqual([{ text: 'No.' }]);
  });
});
