import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiError } from '../../src/http/index.js';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { failing, hanging, saying } from '../support/scripted-generator.js';
import { EventReader, textOf, type TurnEvent } from '../support/turn-events.js';

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

const WORDS = Array.from({ length: 120 }, (_, at) => `w${String(at)} `);

async function stream(body: object, pod = 0): Promise<EventReader> {
  return EventReader.of(await rig.send('POST', `${path}/turns`, { stream: true, ...body }, { pod }));
}

async function resume(turn: string, lastId: string | undefined, pod: number): Promise<EventReader> {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
  return EventReader.of(await rig.send('GET', `${path}/turns/${turn}/events`, undefined, { pod, headers }));
}

const isDone = (events: readonly TurnEvent[]): boolean => events.at(-1)?.name === 'done';
const turnOf = ([first]: readonly TurnEvent[]): string => String(first?.data['id']);

describe('a turn as events', () => {
  it('is told as turn, deltas and done, with rising ids', async () => {
    rig.generator.play(saying(WORDS.slice(0, 20), 5));
    const events = await (await stream({ content: 'Hi' })).all();
    expect(events.map(({ name }) => name)).toEqual(['turn', ...events.slice(1, -1).map(() => 'delta'), 'done']);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, at) => at + 1));
    expect(events.at(-1)?.data).toMatchObject({ status: 'complete', assistant: { content: textOf(events) } });
    expect(textOf(events)).toBe(WORDS.slice(0, 20).join(''));
    for (const { data } of events.slice(1, -1)) expect(data['object']).toBe('chat.completion.chunk');
  });

  it('writes hundreds of events for thousands of tokens', async () => {
    rig.generator.play(saying(Array.from({ length: 3_000 }, (_, at) => `t${String(at)}`)));
    const events = await (await stream({ content: 'Hi' })).all();
    expect(events.length).toBeLessThan(300);
    expect(textOf(events)).toBe(Array.from({ length: 3_000 }, (_, at) => `t${String(at)}`).join(''));
  });

  it('goes on when its reader leaves: question and answer are there (case 14)', async () => {
    rig.generator.play(saying(WORDS.slice(0, 40), 5));
    const reader = await stream({ content: 'Hi' });
    await reader.take(4);
    await reader.leave();
    await eventually(async () => (await rig.log(path)).length === 2);
    expect(told(await rig.log(path))).toEqual([
      'user complete: Hi',
      `assistant complete: ${WORDS.slice(0, 40).join('')}`,
    ]);
  });

  it('goes on when the reader of its JSON leaves', async () => {
    rig.generator.play(saying(['a', 'b', 'c'], 30));
    const leaving = new AbortController();
    const left = rig.turn(path, 'Hi', { signal: leaving.signal }).catch((error: unknown) => error);
    await eventually(() => rig.generator.calls.length === 1);
    leaving.abort();
    expect(await left).toMatchObject({ name: 'AbortError' });
    await eventually(async () => (await rig.log(path)).length === 2);
    expect(rig.generator.calls[0]?.abortedAt).toBeUndefined();
  });

  it('is read on elsewhere from any event, and gives exactly the text of the log after 50 cuts', async () => {
    rig.generator.play(saying(WORDS.slice(0, 60), 31));
    let reader = await stream({ content: 'Hi' });
    const events: TurnEvent[] = [...(await reader.take(1))];
    const turn = turnOf(events);
    // A pod that is busy puts words together: then there are fewer events to cut between.
    for (let cut = 0; cut < 50 && !isDone(events); cut += 1) {
      events.push(...(await reader.take(1)));
      await reader.leave();
      reader = await resume(turn, events.at(-1)?.id, cut % 2);
    }
    if (!isDone(events)) events.push(...(await reader.all()));
    expect(isDone(events)).toBe(true);
    expect(events.length).toBeGreaterThan(10);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, at) => at + 1));
    const [, assistant] = await rig.log(path);
    expect([textOf(events), assistant?.status]).toEqual([assistant?.content, 'complete']);
    expect(assistant?.content).toBe(WORDS.slice(0, 60).join(''));
  });

  it('can be read in another pod from the beginning, also when it is over', async () => {
    rig.generator.play(saying(WORDS.slice(0, 10), 2));
    const events = await (await stream({ content: 'Hi' })).all();
    expect(textOf(await (await resume(turnOf(events), undefined, 1)).all())).toBe(textOf(events));
    const last = await (await resume(turnOf(events), events.at(-1)?.id, 1)).all();
    expect(last).toMatchObject([{ name: 'done', data: { status: 'complete' } }]);
  });

  it('ends in an error where the model fails: with the turn and what came of it', async () => {
    rig.generator.play(failing(new ApiError('upstream_error', 'broke off'), 'half'));
    const events = await (await stream({ content: 'Hi' })).all();
    expect(events.at(-1)).toMatchObject({
      name: 'error',
      id: expect.stringMatching(/^\d+$/),
      data: { error: { code: 'upstream_error', message: 'broke off' }, turn: { status: 'incomplete' } },
    });
  });

  it('begins with the status of what it refuses', async () => {
    const answer = await rig.turn(path, { content: '', stream: true });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      400,
      expect.stringContaining('application/json'),
    ]);
    const { body } = await rig.turn(path, 'Hi');
    const events = `${path}/turns/${String(body['id'])}/events`;
    for (const id of ['x', '-1', '1.5', '999', '999999999999999']) {
      const refused = await rig.ask('GET', events, undefined, { headers: { 'last-event-id': id } });
      expect([refused.status, refused.body]).toMatchObject([400, { error: { param: 'Last-Event-ID' } }]);
    }
    for (const missing of ['turn_x_1', 'x', `${String(body['id'])}1`])
      expect((await rig.ask('GET', `${path}/turns/${missing}/events`)).status).toBe(404);
  });
});

describe('POST …/cancel', () => {
  it('stops the turn from another pod within a second, and keeps what was told (cases 15, 16)', async () => {
    rig.generator.play(hanging('one ', 'two '));
    const reader = await stream({ content: 'Hi' });
    const events = [...(await reader.take(2))];
    const askedAt = performance.now();
    const cancelled = await rig.ask('POST', `${path}/turns/${turnOf(events)}/cancel`, undefined, { pod: 1 });
    expect((rig.generator.calls[0]?.abortedAt ?? Infinity) - askedAt).toBeLessThan(ABORT_SEEN_MS);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { status: 'incomplete', error: null }]);
    events.push(...(await reader.all()));
    expect([events.at(-1)?.name, textOf(events)]).toEqual(['done', 'one two ']);
    expect(told(await rig.log(path))).toEqual(['user complete: Hi', 'assistant incomplete: one two ']);
    expect((await rig.turn(path, 'Next')).status).toBe(200);
  });

  it('changes nothing of a turn that is over, and knows none that there is not', async () => {
    const { body } = await rig.turn(path, 'Hi');
    const over = await rig.ask('POST', `${path}/turns/${String(body['id'])}/cancel`);
    expect([over.status, over.body]).toEqual([200, body]);
    expect((await rig.ask('POST', `${path}/turns/turn_x_1/cancel`)).status).toBe(404);
  });

  it('needs no word of the model yet', async () => {
    rig.generator.play(hanging());
    const asked = rig.turn(path, 'Hi');
    await eventually(async () => (await rig.log(path)).length === 1);
    const [message] = await rig.log(path);
    await rig.ask('POST', `${path}/turns/${message?.turn_id ?? ''}/cancel`, undefined, { pod: 1 });
    expect((await asked).body).toMatchObject({ status: 'incomplete', assistant: { content: '' } });
    await rig.turn(path, 'Next');
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(['Hi', 'Next']);
  });
});
