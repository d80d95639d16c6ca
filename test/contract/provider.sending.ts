import { expect, it } from '@jest/globals';
import { LateSendError } from '../../src/ai/upstream/sending.js';
import { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import type { Script } from '../support/scripted-upstream.js';
import { attemptAt, answering, textReply } from './provider.attempts.js';
import { collected } from './provider.collector.js';
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

  it.each([
    ['asked before it is sent', { sending: () => undefined }],
    ['not asked', {}],
  ])('passes over 102 Processing and 103 Early Hints before the answer: %s', async (_name, more) => {
    const { adapter, fake } = bench();
    fake.play(behind(['102 Processing', '103 Early Hints'], answering(rig.wire, textReply('Hello'))));
    expect((await adapter.complete(attemptAt(bench(), {}, more))).text).toContain('Hello');
    const stream = await adapter.stream(attemptAt(bench(), { stream: true }, more));
    expect(JSON.stringify(await collected(stream))).toContain('Hello');
  });

  it('takes a 100 Continue that nobody has asked for as a fault that may pass, and says so', async () => {
    const { adapter, fake } = bench();
    fake.play(behind(['100 Continue'], answering(rig.wire, textReply('Hello'))));
    const failure: unknown = await adapter.complete(attemptAt(bench())).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect(failure).toMatchObject({ blame: 'upstream', code: 'upstream_error' });
    expect(String(failure)).toContain('said 100 Continue, which nobody had asked for');
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

/** Interim answers before the final one, as a proxy in front of a provider may send them. */
function behind(interim: readonly string[], script: Script): Script {
  return (request, response) => {
    for (const line of interim) response.socket?.write(`HTTP/1.1 ${line}\r\nlink: </a>; rel=preload\r\n\r\n`);
    return script(request, response);
  };
}
