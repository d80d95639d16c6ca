import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { contentOf } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { isReplay, newKey, ReuseRig } from '../support/reuse-rig.js';
import { inTurn } from '../support/route-rig.js';
import { chunk, DONE, finish, json, RESET, stream } from '../support/scripted-upstream.js';

let rig: ReuseRig;

// Without a cache: what is given again here is given by the key.
beforeAll(async () => {
  rig = await ReuseRig.start(2, { cacheTtl: '0s' });
});
afterEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

describe('an Idempotency-Key', () => {
  it.each([
    ['a 400 of the provider', json(400, { error: { message: 'no' } }), 400],
    ['a stream that broke', stream([chunk('Hal'), RESET]), 200],
  ])('keeps no failure: %s', async (_, failing, status) => {
    const whole = stream([chunk('whole'), finish(), DONE]);
    rig.upstream.play(inTurn(failing, whole));
    const headers = newKey();
    expect((await rig.ask({ stream: true }, { headers })).status).toBe(status);
    const second = await rig.ask({ stream: true }, { headers, pod: 1 });
    expect([contentOf(second.text), isReplay(second), rig.calls]).toEqual(['whole', false, 2]);
    expect(isReplay(await rig.ask({ stream: true }, { headers }))).toBe(true);
  });

  it('is not used up by a request that is refused', async () => {
    const headers = newKey();
    expect((await rig.ask({ messages: [] }, { headers })).status).toBe(400);
    expect((await rig.ask({ model: 'no-such-model' }, { headers })).status).toBe(404);
    expect((await rig.ask({}, { headers })).status).toBe(200);
  });

  it.each([
    ['empty', ''],
    ['with a blank', 'a b'],
    ['too long', 'x'.repeat(256)],
    ['beyond ASCII', 'schl\u00fcssel'],
  ])('must be one: %s', async (_, key) => {
    const { status, body } = await rig.ask({}, { headers: { 'idempotency-key': key } });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({ code: 'invalid_request', param: 'Idempotency-Key' }),
      }),
    ]);
    expect(rig.calls).toBe(0);
  });

  it('of 255 characters is one', async () => {
    expect((await rig.ask({}, { headers: { 'idempotency-key': '~'.repeat(255) } })).status).toBe(200);
  });

  it('is free again when its owner has died', async () => {
    rig.upstream.play(rig.held());
    const headers = newKey();
    const first = rig.ask({}, { headers });
    await rig.called();
    await rig.orphan();
    const second = rig.ask({}, { headers, pod: 1 });
    await rig.called(2);
    rig.open();
    expect([(await second).status, isReplay(await second), (await first).status]).toEqual([200, false, 200]);
    expect(isReplay(await rig.ask({}, { headers }))).toBe(true);
  });

  it('is refused where nobody can tell whether it was used: who names a call must not pay twice', async () => {
    await rig.redis.crash();
    try {
      const headers = newKey();
      const { status, body, headers: told } = await rig.ask({}, { headers });
      expect([status, (body['error'] as { code: string }).code]).toEqual([503, 'store_unavailable']);
      expect(told.get('retry-after')).toBe('1');
      expect(rig.calls).toBe(0);
    } finally {
      await rig.redis.restart();
    }
    await eventually(async () => (await rig.ask({}, { headers: newKey() })).status === 200);
  });

  it('is nothing that can be read in the store', async () => {
    const headers = { 'idempotency-key': 'secret-order-4711' };
    await rig.ask({ messages: [{ role: 'user', content: 'my secret' }] }, { headers });
    const names = await rig.client.keys('*an:*');
    const answers = await Promise.all(
      names.filter((name) => name.endsWith(':answers')).map((name) => rig.client.hgetall(name)),
    );
    expect(JSON.stringify([names, answers])).not.toMatch(/4711|my secret|acme/);
  });
});
