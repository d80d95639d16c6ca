import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, CompletionRig, contentOf, dataOf, messages } from '../support/completion-rig.js';
import { met } from '../support/reuse-rig.js';
import { chunk, completion, DONE, finish, json, stream, usageChunk } from '../support/scripted-upstream.js';

const ASKED = { model: 'test-model', messages, seed: 7 };

describe('the cache, with streams', () => {
  let rig: CompletionRig;
  beforeEach(async () => {
    rig = await CompletionRig.start({ cacheTtl: '300s' });
  });
  afterEach(() => rig.close());

  const calls = (): number => rig.upstream.requests.length;
  const ask = (body: object = ASKED): Promise<Answer> => rig.ask(body);

  const STREAM = { ...ASKED, stream: true };
  beforeEach(() => {
    const steps = [chunk({ role: 'assistant', content: '' }), chunk('Hel'), chunk('lo'), finish(), usageChunk(), DONE];
    rig.upstream.play(stream(steps));
  });

  it('plays a stream again as it was, with usage for who asks for it', async () => {
    const first = await ask(STREAM);
    const second = await ask(STREAM);
    expect([met(first), met(second), calls()]).toEqual(['miss', 'hit', 1]);
    expect(second.headers.get('content-type')).toContain('text/event-stream');
    expect(second.text).toBe(first.text);
    expect(second.text).not.toContain('usage');
    const third = await ask({ ...STREAM, stream_options: { include_usage: true } });
    expect(met(third)).toBe('hit');
    expect(dataOf(third.text).at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 2, cost: 0 } });
    expect(third.text.endsWith(DONE)).toBe(true);
  });

  it('gives it as JSON to who asks for that', async () => {
    const first = await ask({ ...STREAM, stream_options: { include_usage: true } });
    expect(dataOf(first.text).at(-1)).toMatchObject({ usage: { cost: 0.000036 } });
    const whole = await ask();
    expect(met(whole)).toBe('hit');
    expect(whole.body).toMatchObject({
      id: 'c1',
      object: 'chat.completion',
      model: 'test-model',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0 },
    });
  });

  it('gives JSON as a stream to who asks for that', async () => {
    rig.upstream.play(json(200, completion('Hello!')));
    await ask();
    const streamed = await ask({ ...STREAM, stream_options: { include_usage: true } });
    expect([met(streamed), contentOf(streamed.text), streamed.text.endsWith(DONE)]).toEqual(['hit', 'Hello!', true]);
    const chunks = dataOf(streamed.text);
    expect(chunks.map(({ id, object, model }) => [id, object, model])).toEqual(
      chunks.map(() => ['c1', 'chat.completion.chunk', 'test-model']),
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, cost: 0 } });
    expect(contentOf((await ask(STREAM)).text)).toBe('Hello!');
    expect((await ask(STREAM)).text).not.toContain('"usage"');
  });

  it('keeps no stream whose caller left before its end', async () => {
    rig.upstream.play(stream([chunk('a'), { waitMs: 1_000 }]));
    const leaving = new AbortController();
    const response = await rig.send(STREAM, {}, leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    rig.upstream.play(stream([chunk('whole'), finish(), DONE]));
    const next = await ask(STREAM);
    expect(contentOf(next.text)).toContain('whole');
  });
});
