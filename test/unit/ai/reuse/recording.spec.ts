import { describe, expect, it } from '@jest/globals';
import { asCompletion, asFrames, canBeGiven, isComplete } from '../../../../src/ai/reuse/recording/recording.forms.js';
import {
  formatFailure,
  formatRecording,
  parseRecording,
  parseTold,
  type Recording,
} from '../../../../src/ai/reuse/recording/recording.js';
import { viewFrames } from '../../../../src/ai/reuse/recording/reader.view.js';
import { ApiError } from '../../../../src/http/index.js';
import { chunk, completion, DONE, event, finish, usageChunk } from '../../../support/scripted-upstream.js';

const facts = { model: 'm', provider: 'p', route: 'alias' } as const;
const json = (value: object): Recording => ({ ...facts, kind: 'json', text: JSON.stringify(value) });
const frames = (...parts: readonly string[]): Recording => ({ ...facts, kind: 'stream', text: parts.join('') });
const view = { wantsUsage: true, isFree: true };
const priced = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.5 };

describe('a recording', () => {
  it('is read as it was written, whatever its text', () => {
    for (const text of ['', '{}', 'a\n\nb', '😀|\u2028']) {
      const recording = { ...facts, kind: 'stream', text } as const;
      expect(parseRecording(formatRecording(recording))).toEqual(recording);
    }
  });

  it('of a failure says all that its caller is told', () => {
    const failure = new ApiError('rate_limit_exceeded', 'slow down\n', {
      ...{ param: 'model', retryAfterMs: 5, isRetryable: false, reportedCode: 'tokens' },
    });
    expect(parseTold(formatFailure(failure))).toEqual({ failure });
    const plain = new ApiError('upstream_error', 'it broke');
    expect(parseTold(formatFailure(plain))).toEqual({ failure: plain });
  });

  it.each([
    '',
    'x',
    '\n',
    '{}\n',
    '[]\n',
    '{"kind":"json"}\ntext',
    '{"kind":"failed","code":"no_code","message":""}\n',
  ])('is none: %j', (text) => {
    expect(parseTold(text)).toBeUndefined();
  });

  it('with a route that nobody knows is none', () => {
    expect(parseRecording('{"kind":"json","model":"m","provider":"p","route":"constructor"}\n{}')).toBeUndefined();
  });

  it('is complete where every choice has come to an end', () => {
    const choice = (reason: string | null) => ({ index: 0, message: {}, finish_reason: reason });
    expect(isComplete(json({ choices: [choice('stop')] }))).toBe(true);
    expect(isComplete(json({ choices: [choice('length')] }))).toBe(true);
    expect(isComplete(json({ choices: [choice('stop'), choice(null)] }))).toBe(false);
    expect(isComplete(json({ choices: [] }))).toBe(false);
    expect(isComplete(json({ error: {} }))).toBe(false);
  });
});

describe('a stream that is given as JSON', () => {
  const whole = (recording: Recording): unknown => JSON.parse(asCompletion(recording, view));

  it('says what its chunks add up to', () => {
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    const recording = frames(
      ': keep-alive\n\n',
      chunk({ role: 'assistant', content: '' }, { system_fingerprint: 'fp', usage: null, obfuscation: 'xx' }),
      chunk({ content: 'Hel', reasoning_content: 'hm' }),
      chunk({ content: 'lo "usage"', reasoning_content: 'm' }),
      call(0, { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }),
      call(1, { id: 'c2', type: 'function', function: { name: 'g', arguments: '{"a"' } }),
      call(0, { function: { arguments: '{}' } }),
      call(1, { function: { arguments: ':1}' } }),
      chunk(
        {},
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls', logprobs: { content: [1], refusal: null } }] },
      ),
      usageChunk(priced),
      DONE,
    );
    expect(canBeGiven(recording, false)).toBe(true);
    expect(whole(recording)).toEqual({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'upstream-model',
      system_fingerprint: 'fp',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello "usage"',
            reasoning_content: 'hmm',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
              { id: 'c2', type: 'function', function: { name: 'g', arguments: '{"a":1}' } },
            ],
          },
          finish_reason: 'tool_calls',
          logprobs: { content: [1] },
        },
      ],
      usage: { ...priced, cost: 0 },
    });
  });

  it.each([
    ['without usage', frames(chunk('Hi'), finish(), DONE)],
    ['without an end', frames(chunk('Hi'), usageChunk(), DONE)],
    ['with something that nobody knows', frames(chunk({ audio: { data: 'x' } }), finish(), usageChunk(), DONE)],
    ['with a call without a place', frames(chunk({ tool_calls: [{ id: 'c' }] }), finish(), usageChunk(), DONE)],
    [
      'with annotations beside its delta',
      frames(event({ choices: [{ index: 0, delta: {}, note: 1 }] }), finish(), usageChunk(), DONE),
    ],
    ['without choices', frames(usageChunk(), DONE)],
  ])('is not, %s', (_, recording) => {
    expect(canBeGiven(recording, false)).toBe(false);
    expect(() => asCompletion(recording, view)).toThrow(TypeError);
  });
});

describe('JSON that is given as a stream', () => {
  it('comes back as it was, with its calls in their places', () => {
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const message = { role: 'assistant', content: null, refusal: null, reasoning_content: 'hm', tool_calls: calls };
    const value = completion('', {
      service_tier: 'default',
      choices: [
        { index: 0, message, finish_reason: 'tool_calls', logprobs: { content: [{ token: 'a' }] } },
        { index: 1, message: { role: 'assistant', content: 'two' }, finish_reason: 'stop', logprobs: null },
      ],
      usage: priced,
    });
    const streamed = frames(asFrames(json(value), { wantsUsage: true, isFree: false }));
    expect(streamed.text.endsWith(DONE)).toBe(true);
    expect(streamed.text.match(/"usage":null/g)).toHaveLength(4);
    expect(JSON.parse(asCompletion(streamed, { wantsUsage: true, isFree: false }))).toEqual(value);
  });

  it.each([{ choices: [{ index: 0, finish_reason: 'stop' }] }, { error: {} }, { choices: {} }])(
    'is not: %j',
    (value) => {
      expect(canBeGiven(json(value), true)).toBe(false);
    },
  );
});

describe('viewFrames()', () => {
  const text = [chunk('a "usage" b', { usage: null }), usageChunk(priced), DONE].join('');

  it('gives usage to who asks for it, and its cost to who pays', () => {
    expect(viewFrames(text, { wantsUsage: true, isFree: false })).toBe(text);
    expect(viewFrames(text, { wantsUsage: true, isFree: true })).toBe(text.replace('"cost":0.5', '"cost":0'));
  });

  it('leaves no trace of usage for all others', () => {
    const seen = viewFrames(text, { wantsUsage: false, isFree: false });
    expect(seen).toBe(`${chunk('a "usage" b')}${DONE}`);
  });

  it('tells no cost where there was none', () => {
    const unpriced = usageChunk();
    expect(viewFrames(unpriced, { wantsUsage: true, isFree: true })).toBe(unpriced);
  });
});
