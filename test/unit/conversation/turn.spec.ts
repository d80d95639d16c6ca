import { describe, expect, it } from '@jest/globals';
import { readContent, wellFormed } from '../../../src/conversation/turn/content.js';
import { coalesce } from '../../../src/conversation/turn/delta.chunks.js';
import { EventWriter } from '../../../src/conversation/turn/event.writer.js';
import { bodyHash } from '../../../src/conversation/turn/turn.ask.js';
import { TurnReply } from '../../../src/conversation/turn/turn.reply.js';
import { untilAborted } from '../../../src/conversation/turn/until-aborted.js';
import type { EventPage, TurnEvent } from '../../../src/conversation/store/index.js';
import { nodeEnvironment, StoreTimeoutError } from '../../../src/store/index.js';
import { eventually } from '../../support/eventually.js';
import { delta, hanging, stop, text, usage } from '../../support/scripted-generator.js';

const PLACE = { owner: 'acme', id: 'c' };

/** Events of one turn, in a store whose answers get lost as the test says. */
class LossyEvents {
  readonly kept: TurnEvent[] = [];
  writes = 0;
  /** Of the next writes: `unsent` does not arrive, `unheard` arrives without an answer. */
  readonly faults: ('unsent' | 'unheard' | undefined)[] = [];

  addEvents(_place: unknown, _turn: string, _fence: number, events: readonly TurnEvent[]): Promise<'added'> {
    this.writes += 1;
    const fault = this.faults.shift();
    if (fault !== 'unsent') this.kept.push(...events);
    return fault === undefined ? Promise.resolve('added') : Promise.reject(new StoreTimeoutError('evalsha', 1));
  }

  events(
    _place: unknown,
    _turn: string,
    { afterId = 0 }: { readonly afterId?: number | undefined },
  ): Promise<EventPage> {
    const events = this.kept.slice(afterId).map((event, at) => ({ ...event, id: afterId + at + 1 }));
    return Promise.resolve({ events, status: 'running', isWhole: true });
  }
}

function writerTo(store: LossyEvents): EventWriter {
  const environment = nodeEnvironment();
  const where = { place: PLACE, turnId: 't', fence: 1 };
  return new EventWriter({ ...where, store, environment, deltaMs: 1, answered: () => undefined });
}

const contentOf = (events: readonly TurnEvent[]): string =>
  events
    .filter(({ name }) => name === 'delta')
    .map(({ data }) => (JSON.parse(data) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content)
    .join('');

describe('EventWriter', () => {
  it('writes each event once and in order, whichever answers are lost', async () => {
    for (const faults of [
      ['unsent'],
      ['unheard'],
      ['unsent', 'unheard'],
      ['unheard', 'unheard'],
      [undefined, 'unheard'],
    ] as const) {
      const store = new LossyEvents();
      store.faults.push(...faults);
      const writer = writerTo(store);
      const pieces = ['a', 'b', 'c', 'd', 'e'];
      for (const piece of pieces) {
        writer.add(text(piece));
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
      await eventually(() => store.faults.length === 0);
      const rest = await writer.close();
      const all = [...store.kept, ...rest];
      expect([faults, all.filter(({ name }) => name === 'turn').length, contentOf(all)]).toEqual([faults, 1, 'abcde']);
      expect(all[0]?.name).toBe('turn');
    }
  });

  it('writes nothing after it was closed', async () => {
    const store = new LossyEvents();
    const writer = writerTo(store);
    expect((await writer.close()).map(({ name }) => name)).toEqual(['turn']);
    writer.add(text('late'));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect([store.kept, store.writes]).toEqual([[], 0]);
  });
});

describe('coalesce()', () => {
  it('joins texts that follow each other, and nothing else', () => {
    const call = delta({ tool_calls: [{ index: 0, id: 'c' }] });
    const merged = coalesce([
      delta({ role: 'assistant', content: '' }),
      text('a'),
      text('b'),
      call,
      text('c'),
      stop(),
      usage,
    ]);
    expect(merged).toEqual([delta({ role: 'assistant', content: 'ab' }), call, text('c'), stop(), usage]);
    expect(coalesce([])).toEqual([]);
  });
});

describe('TurnReply', () => {
  it('puts pieces of calls together, and leaves torn ones out', () => {
    const reply = new TurnReply();
    reply.add(
      delta({ tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{"x"' } }] }),
    );
    reply.add(delta({ tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'f', input: 'some' } }] }));
    reply.add(
      delta({
        tool_calls: [
          { index: 1, function: { arguments: ':1}' } },
          { index: 0, custom: { input: 'thing' } },
        ],
      }),
    );
    expect([reply.isEmpty, reply.isFinished]).toEqual([false, false]);
    expect(reply.message(false)).toMatchObject({ content: '', toolCalls: undefined, calls: [] });
    const { toolCalls, calls } = reply.message(true);
    expect([JSON.parse(toolCalls ?? ''), calls]).toEqual([
      [
        { id: 'a', type: 'custom', custom: { name: 'f', input: 'something' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{"x":1}' } },
      ],
      ['a', 'b'],
    ]);
  });

  it('is empty where nothing can be seen', () => {
    const reply = new TurnReply();
    for (const chunk of [{}, { choices: null }, { choices: [null] }, delta({ content: null }), text(' \n'), usage])
      reply.add(chunk);
    expect(reply.isEmpty).toBe(true);
  });
});

describe('untilAborted()', () => {
  it('stops with the signal’s reason, also where its source hears nothing', async () => {
    const abort = new AbortController();
    const read: unknown[] = [];
    const reading = (async () => {
      const source = hanging('a', 'b')({} as Parameters<ReturnType<typeof hanging>>[0]);
      for await (const chunk of untilAborted(() => Promise.resolve(source), abort.signal)) read.push(chunk);
    })();
    await eventually(() => read.length === 2);
    const reason = new Error('enough');
    abort.abort(reason);
    await expect(reading).rejects.toBe(reason);
    const never = untilAborted(() => new Promise<AsyncIterable<string>>(() => undefined), abort.signal);
    await expect(never.next()).rejects.toBe(reason);
  });
});

describe('contents and bodies', () => {
  it('are well-formed', () => {
    expect(wellFormed('\ud800a\udc00\0😀')).toBe('\uFFFDa\uFFFD😀');
    const parts = readContent([{ type: 'text', text: 'x\ud800', extra: ['\0y'] }], 'content');
    expect(JSON.parse(parts.content)).toEqual([{ type: 'text', text: 'x\uFFFD', extra: ['y'] }]);
  });

  it('are told apart by what they say, not by how they are written', () => {
    expect(bodyHash({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(bodyHash({ b: [{ d: 3, c: 2 }], a: 1 }));
    const different = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: [['b', 1]] }, { a: { b: 1 } }, {}, []].map((body) =>
      bodyHash(body),
    );
    expect(new Set(different).size).toBe(different.length);
  });
});
