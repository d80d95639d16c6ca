import { expect, it } from '@jest/globals';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { eventually } from '../support/eventually.js';
import { type Step, stream, type Script } from '../support/scripted-upstream.js';
import { attemptAt, textReply } from './provider.attempts.js';
import type { Subject } from './provider.rig.js';

/** Nothing ever comes. */
const silence: Script = () => undefined;

/** Row 43: whoever leaves is not paid for: the provider sees its connection close within a second. */
export function describeAborts({ rig, bench }: Subject): void {
  const reason = new Error('the caller has left');

  it.each(['complete', 'stream'] as const)('while %s() waits for the first byte', async (call) => {
    const { adapter, fake } = bench();
    fake.play(silence);
    const leaving = new AbortController();
    const answer = adapter[call](attemptAt(bench(), {}, { signal: leaving.signal }));
    const outcome = expect(answer).rejects.toBe(reason);
    await eventually(() => fake.requests.length === 1);
    leaving.abort(reason);
    await outcome;
    await eventually(() => fake.aborted === 1, ABORT_SEEN_MS);
  });

  it('in the middle of a whole answer', async () => {
    const { adapter, fake } = bench();
    fake.play((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    });
    const leaving = new AbortController();
    let hasBegun = false;
    const progressed = (): void => {
      hasBegun = true;
    };
    const outcome = expect(
      adapter.complete(attemptAt(bench(), {}, { signal: leaving.signal, progressed })),
    ).rejects.toBe(reason);
    await eventually(() => hasBegun);
    leaving.abort(reason);
    await outcome;
    await eventually(() => fake.aborted === 1, ABORT_SEEN_MS);
  });

  it('in the middle of a stream', async () => {
    const { adapter, fake } = bench();
    const head: readonly Step[] = rig.wire.frames(textReply('one two three')).slice(0, -3);
    fake.play(stream(head, { ends: false }));
    const leaving = new AbortController();
    const { events } = await adapter.stream(attemptAt(bench(), { stream: true }, { signal: leaving.signal }));
    const read = async (): Promise<void> => {
      for await (const group of events) if (group.some(({ kind }) => kind === 'chunk')) leaving.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    await eventually(() => fake.aborted === 1, ABORT_SEEN_MS);
  });

  it('also before it has begun, and then asks nobody', async () => {
    const { adapter, fake } = bench();
    const signal = AbortSignal.abort(reason);
    await expect(adapter.complete(attemptAt(bench(), {}, { signal }))).rejects.toBe(reason);
    await expect(adapter.stream(attemptAt(bench(), { stream: true }, { signal }))).rejects.toBe(reason);
    expect(fake.requests).toEqual([]);
  });
}
