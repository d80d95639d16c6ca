import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { answering, gated, hanging, later } from '../support/scripted-generator.js';

let rig: ConversationRig;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start({ pods: 2 });
});
afterAll(() => rig.close());
beforeEach(async () => {
  rig.generator.reset();
  path = await rig.create();
});

/** Gapless, and every question with its answer behind it. */
async function expectWhole(turns: number): Promise<void> {
  const log = await rig.log(path);
  expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * turns }, (_, at) => at + 1));
  expect(log.map(({ role }) => role)).toEqual(Array.from({ length: turns }, () => ['user', 'assistant']).flat());
  for (let at = 0; at < log.length; at += 2)
    expect([log[at + 1]?.content, log[at + 1]?.turn_id]).toEqual([
      `you said: ${String(log[at]?.content)}`,
      log[at]?.turn_id,
    ]);
}

describe('turns of one conversation at once', () => {
  it('lets 50 in parallel through one by one or not at all (case 17)', async () => {
    rig.generator.play(...Array.from({ length: 50 }, () => answering(20)));
    const asked = Array.from({ length: 50 }, (_, at) => rig.turn(path, `message ${String(at)}`, { pod: at % 2 }));
    const answers = await Promise.all(asked);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    for (const { status, body, headers } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, body]).toMatchObject([409, { error: { code: 'turn_in_progress' } }]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await expectWhole(done.length);
    expect(rig.generator.calls).toHaveLength(done.length);
  });

  it('names the one that runs (case 20)', async () => {
    const gate = gated();
    rig.generator.play(gate.script);
    const first = rig.turn(path, 'slow');
    await eventually(() => rig.generator.calls.length === 1);
    const refused = await rig.turn(path, 'hasty', { pod: 1 });
    gate.open();
    const { body } = await first;
    expect(refused.body).toMatchObject({ error: { code: 'turn_in_progress', turn_id: body['id'] } });
    expect(refused.body).toMatchObject({ error: { message: expect.stringContaining(String(body['id'])) } });
  });

  it('lets a few wait in their order, and no more than a few', async () => {
    const gate = gated();
    rig.generator.play(gate.script);
    const first = rig.turn(path, 'first');
    await eventually(() => rig.generator.calls.length === 1);
    let refused = 0;
    const waiting = Array.from({ length: 5 }, async (_, at) => {
      const answer = await rig.ask('POST', `${path}/turns?onBusy=wait`, { content: `waiter ${at}` }, { pod: at % 2 });
      if (answer.status === 409) refused += 1;
      return answer;
    });
    await eventually(() => refused === 2);
    gate.open();
    const answers = await Promise.all([first, ...waiting]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409]);
    await expectWhole(4);
  });

  it('waits no longer than the request may take, and leaves the answer what is left of it', async () => {
    rig.generator.play(hanging('you said: first'));
    const first = rig.turn(path, 'first');
    await eventually(() => rig.generator.calls.length === 1);
    const wait = (ms: number) =>
      rig.ask(
        'POST',
        `${path}/turns?onBusy=wait`,
        { content: 'next' },
        { headers: { 'x-coordinator-timeout-ms': String(ms) } },
      );
    expect(await wait(300)).toMatchObject({ status: 409, body: { error: { code: 'turn_in_progress' } } });
    const patient = wait(60_000);
    await later(100);
    const [message] = await rig.log(path);
    await rig.ask('POST', `${path}/turns/${message?.turn_id ?? ''}/cancel`);
    expect([(await first).status, (await patient).status]).toEqual([200, 200]);
    expect(rig.generator.calls.at(-1)?.request.deadlineMs).toBeLessThanOrEqual(59_900);
    await expectWhole(2);
  });

  it('refuses a way of waiting that there is not', async () => {
    const answer = await rig.ask('POST', `${path}/turns?onBusy=queue`, { content: 'x' });
    expect([answer.status, answer.body]).toMatchObject([400, { error: { param: 'onBusy' } }]);
  });

  it('holds up no other conversation (case 33)', async () => {
    rig.generator.play(hanging('never'));
    const slow = rig.turn(path, 'slow').catch(() => undefined);
    await eventually(() => rig.generator.calls.length === 1);
    const other = await rig.create();
    expect((await rig.turn(other, 'quick')).status).toBe(200);
    const [message] = await rig.log(path);
    expect(message).toMatchObject({ status: 'pending' });
    await rig.ask('POST', `${path}/turns/${message?.turn_id ?? ''}/cancel`);
    await slow;
  });

  it('shows the message of a running turn as pending, and takes no second one for long answers (case 19)', async () => {
    const leaseMs = 2_000;
    const own = await ConversationRig.start({ pods: 2, settings: { leaseMs } });
    const gate = gated();
    own.generator.play(gate.script);
    path = await own.create();
    const first = own.turn(path, 'slow');
    await eventually(() => own.generator.calls.length === 1);
    expect(told(await own.log(path))).toEqual(['user pending: slow']);
    // Well beyond the lease, which is renewed.
    await later(1.5 * leaseMs);
    expect((await own.turn(path, 'second', { pod: 1 })).status).toBe(409);
    gate.open();
    expect((await first).body).toMatchObject({ status: 'complete', assistant: { content: 'you said: slow' } });
    expect(told(await own.log(path))).toEqual(['user complete: slow', 'assistant complete: you said: slow']);
    await own.close();
  });

  it('writes nothing once its lock is somebody else’s (case 19: a stolen lock)', async () => {
    rig.generator.play(hanging('half'));
    const first = rig.turn(path, 'robbed');
    await eventually(async () => (await rig.log(path)).length === 1 && rig.generator.calls.length === 1);
    const [lock] = await rig.pod.locks.list();
    await rig.pod.locks.forceRelease(lock?.key ?? '', { mode: 'now' });
    const second = await rig.turn(path, 'heir', { pod: 1 });
    expect(second.body).toMatchObject({ status: 'complete', user: { seq: 3 } });
    expect([(await first).status, (await first).body]).toMatchObject([500, { error: { code: 'lock_lost' } }]);
    expect(rig.generator.calls[0]?.abortedAt).toBeGreaterThan(0);
    // What it had told is kept by whoever came next, and by nobody else.
    expect(told(await rig.log(path))).toEqual([
      'user complete: robbed',
      'assistant incomplete: half',
      'user complete: heir',
      'assistant complete: you said: heir',
    ]);
  });
});

describe('Idempotency-Key', () => {
  const keyed = (content: string, key = 'k1', pod = 0) =>
    rig.turn(path, content, { pod, headers: { 'idempotency-key': key } });

  it('makes one turn of many tries, at once and later, in any pod (case 21)', async () => {
    rig.generator.play(answering(100));
    const atOnce = await Promise.all(Array.from({ length: 10 }, (_, at) => keyed('Hi', 'k1', at % 2)));
    const later = await keyed('Hi', 'k1', 1);
    const ids = new Set([...atOnce, later].map(({ body }) => body['id']));
    expect([ids.size, rig.generator.calls.length]).toEqual([1, 1]);
    for (const { status, body } of atOnce) expect([status, body['status']]).toEqual([200, 'complete']);
    await expectWhole(1);
  });

  it('tells bodies apart, and not the way in which the answer is told', async () => {
    const { body } = await keyed('Hi');
    const other = await keyed('Ho');
    expect([other.status, other.body]).toMatchObject([422, { error: { code: 'idempotency_mismatch' } }]);
    const events = await rig.turn(path, { stream: true, content: 'Hi' }, { headers: { 'idempotency-key': 'k1' } });
    expect(events.text).toContain(String(body['id']));
    expect(rig.generator.calls).toHaveLength(1);
  });

  it('is a conversation’s own, and must be one text', async () => {
    await keyed('Hi');
    const second = await rig.create();
    const elsewhere = await rig.turn(second, 'Ho', { headers: { 'idempotency-key': 'k1' } });
    expect([elsewhere.status, rig.generator.calls.length]).toEqual([200, 2]);
    for (const key of [' ', 'x'.repeat(256)]) expect((await keyed('Hi', key)).status).toBe(400);
  });
});
