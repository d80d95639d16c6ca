import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Conversation,
  conversationStoreOn,
  type ConversationStore,
  newTurnToken,
  type Place,
  type TurnNews,
} from '../../src/conversation/store/index.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/index.js';
import { draft, end, message, start } from '../support/conversation-bench.js';
import { eventually } from '../support/eventually.js';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

interface Ground {
  readonly options: RedisStoreOptions;
  /** As many as each master has. */
  readonly replicas: number;
  readonly stop: () => Promise<void>;
}

describePods('one Redis', async () => {
  const server: RedisServer = await startRedisServer();
  const { host, port } = server;
  const options = { kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'pods:' } as const;
  return { options, replicas: 0, stop: () => server.stop() };
});

describePods('a cluster', async () => {
  const cluster: RedisCluster = await startRedisCluster();
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
  const options = { kind: 'cluster', nodes, db: 0, tls: false, keyPrefix: 'pods:' } as const;
  return { options, replicas: 1, stop: () => cluster.stop() };
});

/** Two processes with stores of their own on one ground, in real time. */
function describePods(name: string, build: () => Promise<Ground>): void {
  describe(`conversations of two pods on ${name}`, () => {
    let ground: Ground;
    let pods: readonly [ConversationStore, ConversationStore];
    const opened: RedisStore[] = [];

    beforeAll(async () => {
      ground = await build();
      const options = { ...ground.options, commandTimeoutMs: 5_000 };
      const [one, two] = [new RedisStore(options), new RedisStore(options)];
      opened.push(one, two);
      await Promise.all(opened.map((store) => eventually(() => store.connected().then(() => true))));
      pods = [conversationStoreOn(one, { replicas: ground.replicas }), conversationStoreOn(two)];
      // Nodes that have just met may lose sight of each other again on a busy machine: every slot range, twice.
      await eventually(async () => {
        const ids = Array.from({ length: 12 }, (_, at) => `first-${String(at)}`);
        await Promise.all(ids.flatMap((id) => pods.map((pod) => pod.create({ owner: 'first', id }, draft()))));
        return true;
      });
    });
    afterEach(async () => {
      await pods[0].unsubscribe('p1');
      await pods[1].unsubscribe('p2');
    });
    afterAll(async () => {
      await Promise.all(opened.map((store) => store.close()));
      await ground.stop();
    });

    it('are one: a turn of the one is read along, cancelled, found and listed by the other', async () => {
      const [one, two] = pods;
      const place: Place = { owner: 'shop', id: `chat ${name}` };
      const heard = { p1: new Array<TurnNews>(), p2: new Array<TurnNews>() };
      await one.subscribe('p1', (news) => heard.p1.push(news));
      await two.subscribe('p2', (news) => heard.p2.push(news));
      await two.create(place, draft());
      const token = newTurnToken();
      const turnId = `turn_${token}_1`;
      const key = { hash: 'k', bodyHash: 'b', keepMs: 60_000 };
      expect(await one.startTurn(place, start(token, 1, { key }))).toMatchObject({
        kind: 'started',
        turn: { id: turnId },
      });
      expect(await two.findKeyed(place, key)).toMatchObject({ isSame: true, turn: { id: turnId, status: 'running' } });
      expect(await two.events(place, turnId, { afterId: undefined, limit: 9, process: 'p2' })).toMatchObject({
        events: [],
        isWhole: true,
      });
      await one.addEvents(place, turnId, 1, [{ name: 'delta', data: '"hel"' }]);
      await eventually(() => heard.p2.some(({ kind }) => kind === 'events'));
      expect(await two.events(place, turnId, { afterId: 0, limit: 9, process: 'p2' })).toMatchObject({
        events: [{ id: 1 }],
      });
      expect(await two.cancelTurn(place, turnId)).toBe('asked');
      await eventually(() => heard.p1.some(({ kind }) => kind === 'cancelled'));
      await one.endTurn(place, turnId, end(1, { status: 'incomplete', messages: [message('assistant', 'hel')] }));
      await eventually(() => heard.p2.some(({ kind }) => kind === 'ended'));
      expect(new Set([...heard.p1, ...heard.p2].map((news) => news.turnId))).toEqual(new Set([turnId]));
      expect(await two.messages(place, { afterSeq: 0, limit: 9 })).toMatchObject({
        messages: [{ seq: 1 }, { content: 'hel' }],
      });
      const { conversations } = await one.list('shop', { after: undefined, limit: 9 });
      expect(conversations.map(({ id }) => id)).toEqual([place.id]);
      await two.remove(place);
      expect(await one.find(place)).toBeUndefined();
      expect((await one.list('shop', { after: undefined, limit: 9 })).conversations).toEqual([]);
    });

    it('of one owner lie in many slots, and are listed together', async () => {
      const [one, two] = pods;
      const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
      await Promise.all(ids.map((id, index) => (index % 2 === 0 ? one : two).create({ owner: 'many', id }, draft())));
      const found: Conversation[] = [];
      for (let page = await one.list('many', { after: undefined, limit: 5 }); ;) {
        found.push(...page.conversations);
        if (!page.hasMore) break;
        page = await two.list('many', { after: page.last, limit: 5 });
      }
      expect(found.map(({ id }) => id).sort()).toEqual([...ids].sort());
    });

    it('append each turn once, whoever sends it how often', async () => {
      const [one, two] = pods;
      const place: Place = { owner: 'shop', id: 'race' };
      await one.create(place, draft());
      // As after many changes of the lock: every holder has a fence of its own, and the last one wins.
      for (let fence = 1; fence <= 20; fence += 1) {
        const token = newTurnToken();
        const starts = await Promise.all(pods.map((pod) => pod.startTurn(place, start(token, fence))));
        const id = `turn_${token}_${2 * fence - 1}`;
        expect(starts).toMatchObject([{ turn: { id } }, { turn: { id } }]);
        const ends = await Promise.all([one, two, one].map((pod) => pod.endTurn(place, id, end(fence))));
        expect(ends.map(({ kind }) => kind)).toEqual(['ended', 'ended', 'ended']);
      }
      const page = await two.messages(place, { afterSeq: 0, limit: 100 });
      expect(page?.messages.map(({ seq, role }) => `${seq}${role}`)).toEqual(
        Array.from({ length: 40 }, (_, index) => `${index + 1}${index % 2 === 0 ? 'user' : 'assistant'}`),
      );
    });
  });
}
