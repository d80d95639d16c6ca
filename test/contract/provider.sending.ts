import { expect, it } from '@jest/globals';
import { LateSendError } from '../../src/ai/upstream/sending.js';
import { attemptAt, answering, textReply } from './provider.attempts.js';
import type { Subject } from './provider.rig.js';

/** Whether a call still may go out is asked when nothing is left to be done but to send it. */
export function describeSending({ rig, bench }: Subject): void {
  it.each(['complete', 'stream'] as const)('%s() sends nothing where it is told that it is too late', async (call) => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, textReply('Hello')));
    const late = new LateSendError();
    const sending = (): void => {
      throw late;
    };
    await expect(adapter[call](attemptAt(bench(), { stream: call === 'stream' }, { sending }))).rejects.toBe(late);
    expect(fake.requests).toHaveLength(0);
    await expect(adapter.complete(attemptAt(bench()))).resolves.toBeDefined();
    expect(fake.requests).toHaveLength(1);
  });

  it('asks before the provider has anything of it', async () => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, textReply('Hello')));
    const requestsBefore: number[] = [];
    const sending = (): void => void requestsBefore.push(fake.requests.length);
    await adapter.complete(attemptAt(bench(), {}, { sending }));
    expect(requestsBefore).toEqual([0]);
  });
}
