import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { setTimeout as pass } from 'node:timers/promises';
import { AttemptTimers } from '../../../src/ai/call/attempt.timers.js';
import { ChunkWriter } from '../../../src/ai/call/chunk.writer.js';
import { relay } from '../../../src/ai/call/stream.relay.js';
import type { StreamEvent } from '../../../src/ai/upstream/provider.adapter.js';
import { ClientGoneError } from '../../../src/http/index.js';

async function* silence(): AsyncGenerator<readonly StreamEvent[]> {
  await pass(60_000, undefined, { ref: false });
  yield [];
}

async function* done(): AsyncGenerator<readonly StreamEvent[]> {
  await Promise.resolve();
  yield [{ kind: 'done' }];
}

function opened(events: AsyncGenerator<readonly StreamEvent[]>) {
  const ends: unknown[] = [];
  const stops: string[] = [];
  const timers = new AttemptTimers({ provider: 'p', totalMs: 60_000, idleMs: 60_000 }, new AbortController().signal);
  timers.onStop(() => stops.push('stopped'));
  const text = relay({
    events,
    timers,
    writer: new ChunkWriter({ model: 'm', wantsUsage: false }),
    caller: new AbortController().signal,
    ended: (error) => ends.push(error),
  });
  return { text, ends, stops };
}

describe('relay()', () => {
  it('ends once also where its reader leaves before the first read', async () => {
    const { text, ends, stops } = opened(silence());
    await text.return(undefined);
    await text.return(undefined);
    expect(ends).toEqual([expect.any(ClientGoneError)]);
    expect(stops).toEqual(['stopped']);
  });

  it('ends where a response that nobody has read is destroyed', async () => {
    const { text, ends } = opened(silence());
    const readable = Readable.from(text, { objectMode: false });
    readable.destroy();
    await new Promise((resolve) => readable.once('close', resolve));
    expect(ends).toEqual([expect.any(ClientGoneError)]);
  });

  it('ends once, without an error, where it was read to its end', async () => {
    const { text, ends } = opened(done());
    const pieces: string[] = [];
    for await (const piece of text) pieces.push(piece);
    await text.return(undefined);
    expect(pieces).toEqual(['data: [DONE]\n\n']);
    expect(ends).toEqual([undefined]);
  });
});
