import { describe, expect, it } from '@jest/globals';
import { OpenAiAdapter } from '../../../src/ai/upstream/openai.adapter.js';
import type { AttemptRequest } from '../../../src/ai/upstream/provider.adapter.js';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';

const attempt = (signal = new AbortController().signal): AttemptRequest => ({
  deployment: {
    id: 'acme/m',
    provider: 'acme',
    model: 'm',
    limits: {},
    upstream: { name: 'acme', keyId: 'acme', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'secret-key' },
  },
  bodyText: '{"model":"x","messages":[]}',
  body: { model: 'x', messages: [] },
  headers: {},
  choices: 1,
  maxOutputTokens: 100,
  requestId: 'r',
  connectMs: 3_000,
  signal,
  progressed: () => undefined,
  heard: () => undefined,
});

class FailingTransport extends UndiciTransport {
  constructor(private readonly error: Error) {
    super();
  }

  override send(): Promise<never> {
    return Promise.reject(this.error);
  }
}

describe('OpenAiAdapter', () => {
  it('calls a connection that was not taken in time a timeout', async () => {
    const error = Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
    await expect(new OpenAiAdapter(new FailingTransport(error)).complete(attempt())).rejects.toMatchObject({
      code: 'timeout',
      blame: 'upstream',
      message: 'acme took no connection within 3000 ms',
    });
  });

  it('keeps the cause of a failure for the log, and the key out of the message', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
    await expect(new OpenAiAdapter(new FailingTransport(cause)).stream(attempt())).rejects.toMatchObject({
      code: 'upstream_error',
      message: 'acme could not be reached',
      cause,
    });
  });

  it('throws the reason of its signal as it is', async () => {
    const reason = new Error('left');
    const transport = new FailingTransport(new Error('aborted'));
    await expect(new OpenAiAdapter(transport).complete(attempt(AbortSignal.abort(reason)))).rejects.toBe(reason);
  });

  it('finds nobody at a closed port', async () => {
    const transport = new UndiciTransport();
    await expect(new OpenAiAdapter(transport).complete(attempt())).rejects.toMatchObject({ code: 'upstream_error' });
    await transport.close();
  });
});
