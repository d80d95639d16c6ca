import { Readable } from 'node:stream';
import type { AttemptRequest } from '../../src/ai/upstream/provider.adapter.js';
import { UndiciTransport, type UpstreamAnswer } from '../../src/ai/upstream/undici.transport.js';
import { json, type Script, stream } from '../support/scripted-upstream.js';
import type { ProviderBench, ProviderWire, Reply, ReplyPart } from './provider.rig.js';

/** The model's name at the provider, in every call of the suite. */
export const MODEL = 'upstream-model';

/** What a model may write at most, tokens: little enough that no adapter streams an answer that nobody wants streamed. */
export const MAX_OUTPUT_TOKENS = 4_096;

export const plainBody = { model: 'any', messages: [{ role: 'user', content: 'Hi' }] };

export function attemptAt(
  { upstream }: Pick<ProviderBench, 'upstream'>,
  members: Readonly<Record<string, unknown>> = {},
  more: Partial<AttemptRequest> = {},
): AttemptRequest {
  const body = { ...plainBody, ...members };
  return {
    deployment: { id: `${upstream.keyId}/${MODEL}`, provider: upstream.name, model: MODEL, limits: {}, upstream },
    bodyText: JSON.stringify(body),
    body,
    choices: 1,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    headers: {},
    requestId: 'request-1',
    connectMs: 3_000,
    signal: new AbortController().signal,
    progressed: () => undefined,
    heard: () => undefined,
    ...more,
  };
}

/** Instructions in the middle of the dialogue. */
export function late(role: string): Readonly<Record<string, unknown>> {
  const messages = ['user', 'assistant', role, 'user'].map((each) => ({ role: each, content: 'Hi' }));
  return { messages };
}

/** Answers as the provider would, whole or streamed, and refuses what it would refuse. */
export function answering(wire: ProviderWire, reply: Reply): Script {
  return (request, response) => {
    let isStream: boolean;
    try {
      ({ isStream } = wire.understand(request));
    } catch (error) {
      return json(400, { error: { type: 'invalid_request_error', message: String(error) } })(request, response);
    }
    return (isStream ? stream(wire.frames(reply)) : json(200, wire.json(reply)))(request, response);
  };
}

/** A transport that answers every call with these bytes, in these pieces: as the network may cut them. */
export class CannedTransport extends UndiciTransport {
  constructor(private readonly pieces: readonly Uint8Array[]) {
    super();
  }

  override send(): Promise<UpstreamAnswer> {
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve({ status: 200, headers, body: Readable.from(this.pieces, { objectMode: false }) });
  }
}

export function textReply(text: string, more: Partial<Reply> = {}): Reply {
  return reply([{ kind: 'text', text }], more);
}

export function reply(content: readonly ReplyPart[], more: Partial<Reply> = {}): Reply {
  const finish = content.some(({ kind }) => kind === 'call') ? 'tool_calls' : 'stop';
  return { content, finish, usage: { prompt: 12, cached: 0, completion: 7 }, ...more };
}
