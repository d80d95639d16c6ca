import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';
import { answering, attemptAt, textReply } from '../../contract/provider.attempts.js';
import { azureClassicRig, azureRig } from '../../contract/provider.azure-rig.js';
import type { ProviderBench } from '../../contract/provider.rig.js';
import { FILTER_RESULTS, PROMPT_RESULTS } from '../../support/fakes/azure.fake.js';
import { json } from '../../support/scripted-upstream.js';

describe('the adapter for Azure OpenAI', () => {
  let transport: UndiciTransport;
  let bench: ProviderBench;

  beforeEach(async () => {
    transport = new UndiciTransport();
    bench = await azureRig.start(transport);
  });
  afterEach(async () => {
    await transport.close();
    await bench.close();
  });

  it('passes on what its content filter found in a whole answer', async () => {
    bench.fake.play(answering(azureRig.wire, textReply('ok')));
    const { value } = await bench.adapter.complete(attemptAt(bench));
    expect(value).toMatchObject({
      choices: [{ content_filter_results: FILTER_RESULTS }],
      prompt_filter_results: PROMPT_RESULTS,
    });
  });

  it('passes on what its content filter found in a stream, that of the prompt first', async () => {
    bench.fake.play(answering(azureRig.wire, textReply('ok')));
    const { events } = await bench.adapter.stream(attemptAt(bench, { stream: true }));
    const chunks: unknown[] = [];
    for await (const group of events) for (const event of group) if (event.kind === 'chunk') chunks.push(event.value);
    expect(chunks[0]).toMatchObject({ choices: [], prompt_filter_results: PROMPT_RESULTS });
    expect(chunks[2]).toMatchObject({ choices: [{ delta: { content: 'o' }, content_filter_results: FILTER_RESULTS }] });
  });

  it('tells a stopped prompt by the name that Azure has for it', async () => {
    const error = { message: 'The response was filtered.', type: null, param: 'prompt', code: 'content_filter' };
    bench.fake.play(json(400, { error }));
    await expect(bench.adapter.complete(attemptAt(bench))).rejects.toMatchObject({
      reportedCode: 'content_filter',
      param: 'prompt',
      message: 'The response was filtered.',
    });
  });

  it('always asks for the usage of a stream', async () => {
    bench.fake.play(answering(azureRig.wire, textReply('ok')));
    await bench.adapter.stream(attemptAt(bench, { stream: true }));
    expect(bench.fake.requests[0]?.body).toMatchObject({
      model: 'upstream-model',
      stream_options: { include_usage: true },
    });
  });

  it('names the deployment in the path where it is asked to, whatever it is called', async () => {
    const classic = await azureClassicRig.start(transport);
    classic.fake.play(answering(azureRig.wire, textReply('ok')));
    const attempt = attemptAt(classic);
    await classic.adapter.complete({ ...attempt, deployment: { ...attempt.deployment, model: 'gpt 4/1?' } });
    expect(classic.fake.requests[0]?.path).toBe(
      '/openai/deployments/gpt%204%2F1%3F/chat/completions?api-version=2024-10-21',
    );
    await classic.close();
  });
});
