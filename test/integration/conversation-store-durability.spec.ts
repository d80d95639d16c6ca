import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisConversationStore } from '../../src/conversation/store/redis-conversation.store.js';
import { RedisStore, StoreUnavailableError } from '../../src/store/index.js';
import { draft, end, PLACE, start } from '../support/conversation-bench.js';
import { eventually } from '../support/eventually.js';
import { ask, REPLICATION } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

/** Half of it is waited for a replica. */
const TIMEOUT_MS = 2_000;

describe('RedisConversationStore with durability replica', () => {
  let primary: RedisServer;
  let replica: RedisServer;
  let redis: RedisStore;
  let store: RedisConversationStore;

  beforeAll(async () => {
    primary = await startRedisServer(REPLICATION);
    replica = await startRedisServer([...REPLICATION, '--replicaof', `${primary.host} ${primary.port}`]);
    await eventually(async () => (await ask(primary, (client) => client.info('replication'))).includes('state=online'));
    const address = { kind: 'standalone', host: primary.host, port: primary.port, db: 0, tls: false } as const;
    redis = new RedisStore({ ...address, keyPrefix: 'd:', commandTimeoutMs: TIMEOUT_MS });
    store = new RedisConversationStore(redis, { replicas: 1 });
  });
  afterAll(async () => {
    await redis.close();
    await Promise.all([primary.stop(), replica.stop()]);
  });

  /** What the replica has of the log and of the running turn: lengths. */
  const onReplica = (): Promise<readonly number[]> =>
    ask(replica, async (client) => {
      const [name = ''] = (await client.keys('d:cv:1:{*}')).filter((key) => key.endsWith('}'));
      return [await client.xlen(`${name}:l`), await client.hlen(`${name}:r`)];
    });

  it('acknowledges a start and an end once a replica has them', async () => {
    // A replica that has just come answers late.
    await eventually(() => store.create(PLACE, draft()).then(() => true));
    await store.startTurn(PLACE, start('t1', 1));
    const [before, record = 0] = await onReplica();
    expect([before, record > 0]).toEqual([0, true]);
    await store.endTurn(PLACE, 'turn_t1_1', end(1));
    expect(await onReplica()).toEqual([2, 0]);
  });

  it('acknowledges nothing while the replica is silent, holds nobody up meanwhile, and finds it when it is asked again', async () => {
    replica.freeze();
    try {
      const pending = store.startTurn(PLACE, start('t2', 2));
      const outcome = pending.catch((error: unknown) => error);
      // Other questions do not stand behind the one that waits.
      for (let reads = 0; reads < 20; reads += 1) expect(await store.find(PLACE)).toMatchObject({ seq: 2 });
      expect(await outcome).toBeInstanceOf(StoreUnavailableError);
      expect(await outcome).toMatchObject({ mayHaveRun: true, isRetryable: true });
      expect(redis.health().downForMs).toBe(0);
    } finally {
      replica.thaw();
    }
    await eventually(
      async () => (await store.startTurn(PLACE, start('t2', 2)).catch(() => undefined))?.kind === 'started',
    );
    const [, record = 0] = await onReplica();
    expect(record).toBeGreaterThan(0);
  });

  it('asks the primary alone where that is enough', async () => {
    const alone = new RedisConversationStore(redis);
    replica.freeze();
    try {
      expect(await alone.endTurn(PLACE, 'turn_t2_3', end(2))).toMatchObject({ kind: 'ended' });
    } finally {
      replica.thaw();
    }
  });
});
