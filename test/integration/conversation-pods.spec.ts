import { afterEach, describe, expect, it } from '@jest/globals';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { hanging, saying } from '../support/scripted-generator.js';
import { type BenchOptions, storeBench, TIMEOUT_MS } from '../support/store-bench.js';
import { EventReader, textOf } from '../support/turn-events.js';

const bench = storeBench();
const WORDS = Array.from({ length: 20 }, (_, at) => `w${String(at)} `);

let rig: ConversationRig;
afterEach(() => rig.close());

const startRig = async (options: BenchOptions = {}): Promise<string> => {
  rig = await ConversationRig.start({ pods: 2, settings: { keepMs: 60_000 }, store: bench.open(options) });
  return rig.create();
};

describe('two pods on one Redis', () => {
  it('let 50 turns at once through one by one or not at all (case 17)', async () => {
    const path = await startRig();
    const asked = Array.from({ length: 50 }, (_, at) => rig.turn(path, `message ${String(at)}`, { pod: at % 2 }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    const done = statuses.filter((status) => status === 200).length;
    expect([done > 0, statuses.filter((status) => status === 409).length]).toEqual([true, 50 - done]);
    const log = await rig.log(path);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * done }, (_, at) => at + 1));
    for (let at = 0; at < log.length; at += 2)
      expect(log[at + 1]?.content).toBe(`you said: ${String(log[at]?.content)}`);
  });

  it('read and cancel each other’s turns', async () => {
    const path = await startRig();
    rig.generator.play(saying(WORDS, 10), hanging('half'));
    const first = EventReader.of(await rig.send('POST', `${path}/turns`, { content: 'Hi', stream: true }));
    const [turn] = await first.take(3);
    await first.leave();
    const where = `${path}/turns/${String(turn?.data['id'])}/events`;
    const events = await EventReader.of(await rig.send('GET', where, undefined, { pod: 1 })).all();
    expect(textOf(events)).toBe(WORDS.join(''));
    const asked = rig.turn(path, 'Again');
    await eventually(async () => (await rig.log(path)).length === 3);
    const running = (await rig.log(path)).at(-1)?.turn_id ?? '';
    await rig.ask('POST', `${path}/turns/${running}/cancel`, undefined, { pod: 1 });
    expect((await asked).body).toMatchObject({ status: 'incomplete', assistant: { content: 'half' } });
  });

  it('lose nothing of a turn while Redis is away for a moment, and tell nothing twice', async () => {
    const path = await startRig({ commandTimeoutMs: TIMEOUT_MS });
    rig.generator.play(saying(WORDS, 60));
    const reader = EventReader.of(await rig.send('POST', `${path}/turns`, { content: 'Hi', stream: true }));
    const head = await reader.take(3);
    bench.server.freeze();
    await new Promise((resolve) => setTimeout(resolve, 500));
    bench.server.thaw();
    await reader.all();
    await eventually(async () => (await rig.log(path)).at(-1)?.status === 'complete');
    const where = `${path}/turns/${String(head[0]?.data['id'])}/events`;
    const events = await EventReader.of(await rig.send('GET', where)).all();
    expect(textOf(events)).toBe(WORDS.join(''));
    expect(told(await rig.log(path))).toEqual(['user complete: Hi', `assistant complete: ${WORDS.join('')}`]);
  });

  it('leave no key without an end (case 31)', async () => {
    const path = await startRig();
    await rig.turn(path, 'Hi', { headers: { 'idempotency-key': 'k' } });
    const keys = (await bench.admin.keys('*')).filter((key) => key.includes('cv:'));
    expect(keys.length).toBeGreaterThan(4);
    for (const key of keys) expect([key, (await bench.admin.pttl(key)) > 0]).toEqual([key, true]);
  });
});
