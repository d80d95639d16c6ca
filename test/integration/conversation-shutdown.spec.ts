import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ConversationSettings } from '../../src/conversation/index.js';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { hanging, saying } from '../support/scripted-generator.js';
import { EventReader, textOf } from '../support/turn-events.js';

const GRACE_MS = 300;

let rig: ConversationRig;
let path: string;
afterEach(() => rig.close());

async function start(settings: Partial<ConversationSettings>): Promise<void> {
  rig = await ConversationRig.start({ pods: 2, settings });
  path = await rig.create();
}

const onOther = (method: string, where: string, body?: object) => rig.ask(method, where, body, { pod: 1 });
const logThere = async () =>
  (await onOther('GET', `${path}/messages`)).body['data'] as Awaited<ReturnType<typeof rig.log>>;

describe('a pod that goes down', () => {
  beforeEach(() => start({ graceMs: GRACE_MS }));

  it('ends its turns as incomplete when the grace is over, tells their readers, and leaves nothing behind', async () => {
    rig.generator.play(hanging('half'));
    const reader = EventReader.of(await rig.send('POST', `${path}/turns`, { content: 'Hi', stream: true }));
    await reader.take(2);
    await rig.pod.turns.close();
    const events = await reader.all();
    expect(events.at(-1)).toMatchObject({
      name: 'error',
      data: { error: { code: 'draining' }, turn: { status: 'incomplete' } },
    });
    expect(told(await logThere())).toEqual(['user complete: Hi', 'assistant incomplete: half']);
    expect(rig.generator.calls[0]?.abortedAt).toBeGreaterThan(0);
    expect(await rig.pod.locks.list()).toEqual([]);
    expect((await onOther('POST', `${path}/turns`, { content: 'Next' })).status).toBe(200);
    const refused = await rig.turn(path, 'Late');
    expect([refused.status, refused.body]).toMatchObject([503, { error: { code: 'draining' } }]);
  });

  it('lets a turn end within the grace', async () => {
    rig.generator.play(saying(['a', 'b'], 40));
    const asked = rig.turn(path, 'Hi');
    await eventually(() => rig.generator.calls.length === 1);
    await rig.pod.turns.close(5_000);
    expect((await asked).body).toMatchObject({ status: 'complete', assistant: { content: 'ab' } });
  });

  it('keeps what came also where the locks are closed first', async () => {
    rig.generator.play(hanging('half'));
    const asked = rig.turn(path, 'Hi');
    await eventually(async () => (await rig.log(path)).length === 1 && rig.generator.calls.length === 1);
    await rig.pod.locks.close(0);
    expect((await asked).body).toMatchObject({ status: 'incomplete', assistant: { content: 'half' } });
    expect(told(await logThere())).toEqual(['user complete: Hi', 'assistant incomplete: half']);
  });
});

/** What a crash leaves: a turn that runs, events, and a lease that nobody renews. */
async function crash(): Promise<string> {
  rig.generator.play(hanging('half '));
  const reader = EventReader.of(await rig.send('POST', `${path}/turns`, { content: 'Hi', stream: true }));
  const [turn] = await reader.take(2);
  // Deaf and dumb from here on: neither the turns nor the locks of this pod do anything more.
  rig.pod.die();
  await reader.leave();
  return String(turn?.data['id']);
}

describe('a pod that is gone', () => {
  // Its lease has to end; that of the other pod must not, though the machine be busy.
  beforeEach(() => start({ graceMs: GRACE_MS, leaseMs: 700, quietMs: 500 }));

  it('leaves a turn that whoever comes next ends: the next turn (case 20)', async () => {
    await crash();
    await eventually(async () => (await onOther('POST', `${path}/turns`, { content: 'Next' })).status === 200);
    expect(told(await logThere())).toEqual([
      'user complete: Hi',
      'assistant incomplete: half ',
      'user complete: Next',
      'assistant complete: you said: Next',
    ]);
  });

  it('… or whoever looks at it', async () => {
    const turn = await crash();
    await eventually(async () => (await onOther('GET', `${path}/turns/${turn}`)).body['status'] !== 'running');
    expect((await onOther('GET', `${path}/turns/${turn}`)).body).toMatchObject({
      status: 'incomplete',
      assistant: { content: 'half ' },
      error: { code: 'turn_interrupted' },
    });
  });

  it('… or whoever reads on, and gets its end', async () => {
    const turn = await crash();
    const reader = EventReader.of(await rig.send('GET', `${path}/turns/${turn}/events`, undefined, { pod: 1 }));
    const events = await reader.all();
    expect([textOf(events), events.at(-1)]).toMatchObject([
      'half ',
      { name: 'error', data: { turn: { status: 'incomplete' } } },
    ]);
  });

  it('… or whoever cancels it, which then was the reason', async () => {
    const turn = await crash();
    await eventually(
      async () => (await onOther('POST', `${path}/turns/${turn}/cancel`)).body['status'] === 'incomplete',
    );
    expect((await onOther('GET', `${path}/turns/${turn}`)).body).toMatchObject({ status: 'incomplete', error: null });
  });

  it('… or whoever asks again with its key, and gets the same turn', async () => {
    rig.generator.play(hanging('half '));
    const headers = { 'idempotency-key': 'k' };
    const left = rig.send('POST', `${path}/turns`, { content: 'Hi' }, { headers }).catch(() => undefined);
    await eventually(async () => (await rig.log(path)).length === 1 && rig.generator.calls.length === 1);
    const [message] = await rig.log(path);
    rig.pod.die();
    const again = await rig.turn(path, 'Hi', { headers, pod: 1 });
    expect(again.body).toMatchObject({ id: message?.turn_id, status: 'incomplete' });
    expect(rig.generator.calls).toHaveLength(1);
    void left;
  });
});
