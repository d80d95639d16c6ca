import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { readChatStream } from '../../../src/ai/upstream/openai.stream.js';
import type { AttemptRequest } from '../../../src/ai/upstream/provider.adapter.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { FedReadables } from '../../support/fed-readables.js';
import { chunk, DONE, finish, usageChunk } from '../../support/scripted-upstream.js';

/** What a provider may say behind an answer without ending the stream. */
const PING = ': ping\n\n';

describe('readEventStream(), behind an answer that is complete,', () => {
  let provider: FedReadables;
  let leaving: AbortController;
  let kinds: string[];
  let outcome: unknown;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    provider = new FedReadables();
    leaving = new AbortController();
    kinds = [];
    outcome = 'open';
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const open = (choices = 1): void => {
    const attempt: AttemptRequest = {
      deployment: {
        id: 'acme/m',
        provider: 'acme',
        model: 'm',
        limits: {},
        upstream: { name: 'acme', keyId: 'acme', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key' },
      },
      bodyText: '{}',
      body: {},
      choices,
      maxOutputTokens: 100,
      headers: {},
      requestId: 'r',
      connectMs: 3_000,
      signal: leaving.signal,
      progressed: () => undefined,
      heard: () => undefined,
    };
    const body = provider.open();
    leaving.signal.addEventListener('abort', () => body.destroy(new Error('aborted')));
    void read(readChatStream(body, attempt));
  };

  const read = async (events: ReturnType<typeof readChatStream>): Promise<void> => {
    try {
      for await (const group of events) kinds.push(...group.map(({ kind }) => kind));
      outcome = 'ended';
    } catch (error) {
      outcome = error;
    }
  };

  const pass = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('waits for the usage and the end', async () => {
    open();
    provider.push(chunk('a') + finish());
    await pass(1_500);
    provider.push(usageChunk());
    await pass(400);
    expect([outcome, kinds]).toEqual(['open', ['chunk', 'chunk', 'chunk']]);
    provider.push(DONE);
    await pass(0);
    expect([outcome, kinds.at(-1)]).toEqual(['ended', 'done']);
    await pass(1_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends as it should where the provider says nothing more, or only that it is there', async () => {
    for (const word of ['', PING]) {
      open();
      provider.push(chunk('a') + finish());
      for (let waitedMs = 0; waitedMs < 2_000; waitedMs += 100) {
        await pass(100);
        if (word !== '') provider.push(word);
      }
      await pass(1);
      expect([outcome, kinds.filter((kind) => kind !== 'comment')]).toEqual(['ended', ['chunk', 'chunk', 'done']]);
      expect(jest.getTimerCount()).toBe(0);
      kinds.length = 0;
    }
  });

  it('ends as it should where a clock of the attempt runs out meanwhile, and not where the caller has left', async () => {
    open();
    provider.push(chunk('a') + finish());
    await pass(100);
    leaving.abort(new UpstreamFailure('upstream', 'timeout', 'acme fell silent'));
    await pass(0);
    expect([outcome, kinds.at(-1)]).toEqual(['ended', 'done']);
    leaving = new AbortController();
    open();
    provider.push(chunk('a') + finish());
    await pass(100);
    const gone = new Error('the caller has left');
    leaving.abort(gone);
    await pass(0);
    expect(outcome).toBe(gone);
  });

  it('does not end what is not complete', async () => {
    open(2);
    provider.push(chunk('a') + finish());
    await pass(60_000);
    expect(outcome).toBe('open');
    provider.push(null);
    await pass(0);
    expect(outcome).toMatchObject({ code: 'upstream_error' });
  });
});
