import { expect, it } from '@jest/globals';
import { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import { json, type Script } from '../support/scripted-upstream.js';
import { attemptAt } from './provider.attempts.js';
import type { RefusalCase, Subject } from './provider.rig.js';

/** Whose fault it is, what the caller is told, and when to come again. */
export function describeFailures({ rig, bench }: Subject): void {
  it('of every kind that matters', () => {
    const codes = new Set(rig.refusals.map(({ code }) => code));
    expect([...codes]).toEqual(
      expect.arrayContaining([
        'invalid_request',
        'context_length_exceeded',
        'upstream_auth',
        'insufficient_quota',
        'rate_limit_exceeded',
        'overloaded',
        'upstream_error',
      ]),
    );
  });

  it.each(rig.refusals.map((each) => [each.name, each] as const))('%s', async (_, refusal) => {
    const { adapter, fake } = bench();
    fake.play(refusing(refusal));
    const calls = [
      () => adapter.complete(attemptAt(bench())),
      () => adapter.stream(attemptAt(bench(), { stream: true })),
    ];
    for (const call of calls) {
      const failure: unknown = await call().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UpstreamFailure);
      expect(failure).toMatchObject({
        blame: refusal.blame,
        code: refusal.code,
        retryAfterMs: refusal.retryAfterMs,
      });
    }
  });

  it.each([
    ['a reset', ((_, response) => void response.socket?.resetAndDestroy()) satisfies Script],
    ['an end before any answer', ((_, response) => void response.socket?.destroy()) satisfies Script],
    [
      'a body that breaks off',
      ((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"id"', () => response.socket?.destroy());
      }) satisfies Script,
    ],
  ])("row 17: %s as the upstream's", async (_, script) => {
    bench().fake.play(script);
    const failure = { blame: 'upstream', code: 'upstream_error' };
    await expect(bench().adapter.complete(attemptAt(bench()))).rejects.toMatchObject(failure);
    await expect(bench().adapter.stream(attemptAt(bench(), { stream: true }))).rejects.toMatchObject(failure);
  });

  it('of a provider that nobody finds', async () => {
    const { adapter, upstream } = bench();
    const gone = { upstream: { ...upstream, baseUrl: upstream.baseUrl.replace(/:\d+/, ':9') } };
    await expect(adapter.complete(attemptAt(gone))).rejects.toMatchObject({
      blame: 'upstream',
      code: 'upstream_error',
    });
  });
}

function refusing({ status, headers = {}, body }: RefusalCase): Script {
  return json(status, typeof body === 'string' ? body : JSON.stringify(body), headers);
}
