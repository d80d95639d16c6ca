import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { errorBody } from '../../src/http/index.js';
import { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import { json, type Script } from '../support/scripted-upstream.js';
import { answering, attemptAt, textReply } from './provider.attempts.js';
import { collected } from './provider.collector.js';
import type { Subject } from './provider.rig.js';

/** Row 48: a key is in request headers and nowhere else: no URL, no body, no failure, nothing that a log could print of it. */
export function describeSecrets({ rig, bench }: Subject): void {
  const expectNone = (text: string): void => {
    for (const secret of bench().secrets) expect(text).not.toContain(secret);
  };

  it('out of addresses and bodies', async () => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, textReply('ok')));
    const reply = await adapter.complete(attemptAt(bench()));
    await collected(await adapter.stream(attemptAt(bench(), { stream: true })));
    expect(fake.requests).toHaveLength(2);
    for (const { path, text, headers } of fake.requests) {
      expectNone(path + text);
      expect(Object.values(headers).some((value) => bench().secrets.some((secret) => value?.includes(secret)))).toBe(
        true,
      );
    }
    expectNone(inspect(reply, { depth: 10 }));
  });

  it.each([400, 401, 403, 404, 429, 500])('out of a failure, also where a %s quotes it', async (status) => {
    const { adapter, fake } = bench();
    const [secret = ''] = bench().secrets;
    const words = `Incorrect API key provided: ${secret}`;
    fake.play(
      json(status, {
        type: 'error',
        error: { type: 'invalid_request_error', message: words, code: secret, param: secret },
      }),
    );
    await expectSilent(adapter.complete(attemptAt(bench())));
    await expectSilent(adapter.stream(attemptAt(bench(), { stream: true })));
  });

  it('out of a failure of the network', async () => {
    const reset: Script = (_, response) => void response.socket?.resetAndDestroy();
    bench().fake.play(reset);
    await expectSilent(bench().adapter.complete(attemptAt(bench())));
    await expectSilent(bench().adapter.stream(attemptAt(bench(), { stream: true })));
  });

  const expectSilent = async (call: Promise<unknown>): Promise<void> => {
    const failure: unknown = await call.catch((error: unknown) => error);
    if (!(failure instanceof UpstreamFailure)) throw new Error('it did not fail as it should', { cause: failure });
    expectNone(inspect(failure, { depth: 10, showHidden: true }) + JSON.stringify(errorBody(failure)));
  };
}
