import fc from 'fast-check';
import type { ConversationStore, NewMessage, Place } from '../../src/conversation/store/index.js';
import { draft, end, message, start } from './conversation-bench.js';

/** What a sequence has seen so far, to be asked for again. */
export interface Seen {
  readonly turns: string[];
  starts: number;
}

/** One question, after the clock has moved. */
export interface Step {
  readonly us: number;
  readonly run: (store: ConversationStore, seen: Seen) => Promise<unknown>;
  readonly words: string;
}

const KEEP_MS = 7_200_000;
const moves = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 2_000_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(600_000_000, 3_600_000_000, 7_200_000_000, 7_199_999_000) },
);
/** Two of one owner, and one of another with the same id. */
const places = fc.constantFrom<Place>({ owner: 'a', id: 'x' }, { owner: 'a', id: 'y|' }, { owner: 'b', id: 'x' });
const fences = fc.integer({ min: 1, max: 12 });
const versions = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ seq: fc.integer({ min: 0, max: 4 }), version: fc.integer({ min: 1, max: 3 }) }) },
);
const texts = fc.constantFrom('', 'a', 'a|b', 'ü🙂', '\n');
const counts = fc.constantFrom(
  [],
  [{ encoding: 'o200k', tokens: 3, callTokens: 0 } as const],
  [{ encoding: 'claude', tokens: 9, callTokens: 2 } as const, { encoding: 'bytes', tokens: 1, callTokens: 0 } as const],
);
const messages = (role: NewMessage['role']) =>
  fc
    .record({
      content: texts,
      tokens: counts,
      calls: fc.subarray(['c1', 'c,2']),
      usage: fc.constantFrom(undefined, '{}'),
    })
    .map(({ content, calls, ...rest }) =>
      message(role, content, { ...rest, calls: role === 'assistant' ? calls : [] }),
    );
const heads = fc.constantFrom('as-before' as const, undefined, { seq: 2, model: 'm' }, { seq: 9, model: 'n' });
const events = fc.array(fc.record({ name: fc.constantFrom('delta', 'done'), data: texts }), { maxLength: 3 });
const keys = fc.option(
  fc.record({
    hash: fc.constantFrom('k1', 'k2'),
    bodyHash: fc.constantFrom('b1', 'b2'),
    keepMs: fc.constant(3_600_000),
  }),
  { nil: undefined },
);
/** Which of the turns that were seen, or one that nobody was given. */
const picks = fc.integer({ min: -1, max: 3 });
export const turnAt = ({ turns }: Seen, pick: number): string =>
  pick < 0 ? 'turn_none_1' : (turns.at(-1 - pick) ?? 'turn_none_2');

function step<Part>(
  parts: fc.Arbitrary<Part>,
  words: string,
  ask: (store: ConversationStore, place: Place, given: Part, seen: Seen) => Promise<unknown>,
) {
  return fc.tuple(moves, places, parts).map(([us, place, given]): Step => {
    return {
      us,
      run: (store, seen) => ask(store, place, given, seen),
      words: `+${us} µs ${words} ${JSON.stringify([place, given])}`,
    };
  });
}

const starts = step(
  fc.record({
    fence: fences,
    key: keys,
    ifVersion: versions,
    user: messages('user'),
    replaces: fc.option(picks, { nil: undefined }),
    again: fc.boolean(),
  }),
  'start',
  async (store, place, { user, replaces, again, ...rest }, seen) => {
    const token = `t${again ? seen.starts : (seen.starts += 1)}`;
    const last = (await store.lastTurn(place))?.id;
    const given = {
      ...rest,
      messages: [user] as const,
      replaces: replaces === undefined ? undefined : replaces < 2 ? last : turnAt(seen, replaces),
    };
    const answer = await store.startTurn(place, start(token, rest.fence, given));
    if (answer.kind === 'started') seen.turns.push(answer.turn.id);
    return answer;
  },
);
const ends = step(
  fc.record({
    pick: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: picks }),
    fence: fences,
    status: fc.constantFrom('complete' as const, 'incomplete' as const, 'failed' as const),
    reply: messages('assistant'),
    head: heads,
    window: fc.constantFrom(undefined, '{"w":1}'),
    error: fc.constantFrom(undefined, '{"e":1}'),
    events,
  }),
  'end',
  (store, place, { pick, reply, ...rest }, seen) =>
    store.endTurn(place, turnAt(seen, pick), end(rest.fence, { ...rest, messages: [reply] })),
);

/** One question of all that a store is asked, in a time that goes on. */
export const steps = fc.oneof(
  {
    weight: 2,
    arbitrary: step(
      fc.record({
        keepMs: fc.constantFrom(0, 1_000, KEEP_MS),
        title: fc.constantFrom(undefined, '', 'T'),
        system: fc.constantFrom(undefined, 'S'),
        systemTokens: counts,
      }),
      'create',
      (store, place, given) => store.create(place, draft(given)),
    ),
  },
  {
    weight: 1,
    arbitrary: step(
      fc.tuple(
        fc.constantFrom(
          {},
          { title: 'x' },
          { title: undefined, metadata: { a: '|' } },
          { model: 'm', systemTokens: [] },
        ),
        versions,
      ),
      'change',
      (store, place, [changes, version]) => store.change(place, changes, version),
    ),
  },
  { weight: 1, arbitrary: step(versions, 'remove', (store, place, version) => store.remove(place, version)) },
  {
    weight: 1,
    arbitrary: step(fc.tuple(fences, versions), 'clear', (store, place, [fence, version]) =>
      store.clear(place, fence, version),
    ),
  },
  {
    weight: 1,
    arbitrary: step(fc.record({ limit: fc.integer({ min: 1, max: 3 }) }), 'list', (store, { owner }, { limit }) =>
      store.list(owner, { after: undefined, limit }),
    ),
  },
  { weight: 6, arbitrary: starts },
  { weight: 6, arbitrary: ends },
  {
    weight: 3,
    arbitrary: step(fc.record({ pick: picks, fence: fences, events }), 'tell', (store, place, given, seen) =>
      store.addEvents(place, turnAt(seen, given.pick), given.fence, given.events),
    ),
  },
  {
    weight: 3,
    arbitrary: step(
      fc.record({
        pick: picks,
        afterId: fc.constantFrom(undefined, 0, 1, 4),
        limit: fc.integer({ min: 1, max: 4 }),
        process: fc.constantFrom(undefined, 'p1', 'p2'),
      }),
      'events',
      (store, place, { pick, ...request }, seen) => store.events(place, turnAt(seen, pick), request),
    ),
  },
  {
    weight: 1,
    arbitrary: step(picks, 'cancel', (store, place, pick, seen) => store.cancelTurn(place, turnAt(seen, pick))),
  },
  {
    weight: 1,
    arbitrary: step(keys, 'keyed', (store, place, key) =>
      store.findKeyed(place, key ?? { hash: 'k1', bodyHash: 'b1' }),
    ),
  },
  {
    weight: 1,
    arbitrary: step(
      fc.record({
        encoding: fc.constantFrom('o200k' as const, 'bytes' as const),
        seq: fc.integer({ min: 0, max: 6 }),
        callTokens: fc.constantFrom(0, 1),
      }),
      'count',
      (store, place, { encoding, ...count }) => store.saveTokens(place, encoding, [{ ...count, tokens: 5 }]),
    ),
  },
);
