import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ConversationStore, Place } from '../../src/conversation/store/index.js';
import {
  type ConversationBench,
  memoryConversationBench,
  redisConversationBench,
  type RedisConversationBench,
} from '../support/conversation-bench.js';
import { type Seen, type Step, steps, turnAt } from '../support/conversation-sequences.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(25, 2_000);
const MOST_STEPS = 60;
/** Few sequences are always the same, so that both ways in which turns end are surely among them; many are by chance. */
const CHANCE = isFullProof ? {} : { seed: 8 };
const TIMEOUT_MS = sized(120_000, 3_600_000);

/** All that can be seen of a conversation. */
async function sight(store: ConversationStore, place: Place, seen: Seen): Promise<unknown> {
  return [
    await store.find(place),
    await store.messages(place, { afterSeq: 0, limit: 50 }),
    await store.cards(place, { encoding: 'o200k', model: 'm' }),
    await store.lastTurn(place),
    await store.findTurn(place, turnAt(seen, 0)),
  ];
}

const SIGHTS: readonly Place[] = [
  { owner: 'a', id: 'x' },
  { owner: 'a', id: 'y|' },
  { owner: 'b', id: 'x' },
];

/** What each step answered and published, and what was to be seen after it. */
async function play(bench: ConversationBench, sequence: readonly Step[]): Promise<readonly unknown[]> {
  const seen: Seen = { turns: [], starts: 0 };
  const answers: unknown[] = [];
  for (const { us, run } of sequence) {
    bench.clock.us += us;
    const answer = await run(bench.store, seen);
    const sights: unknown[] = [];
    for (const place of SIGHTS) sights.push(await sight(bench.store, place, seen));
    answers.push([answer, await bench.heard(), sights]);
  }
  return answers;
}

describe('the two stores of conversations', () => {
  let server: RedisServer;
  let redis: RedisConversationBench;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisConversationBench(server, 'agree:');
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'answer, publish and show the same, whatever happens when',
    async () => {
      let [ended, left] = [0, 0];
      const property = fc.asyncProperty(
        fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' }),
        async (sequence) => {
          await redis.client.flushall();
          const memory = await memoryConversationBench({ us: redis.clock.us });
          const said = await play(redis, sequence);
          const expected = await play(memory, sequence);
          said.forEach((answer, index) => {
            const { words } = sequence[index] ?? { words: '' };
            expect({ words, answer }).toEqual({ words, answer: expected[index] });
          });
          const text = JSON.stringify(said);
          ended += text.split('"kind":"ended"').length - 1;
          left += text.split('"kind":"left"').length - 1;
        },
      );
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true, ...CHANCE });
      // Or the sequences say nothing.
      expect(Math.min(ended, left)).toBeGreaterThan(RUNS / 10);
    },
    TIMEOUT_MS,
  );
});
