import { Redis } from 'ioredis';
import { loadLockScripts, type LockScripts } from '../../src/lock/lock.scripts.js';
import { RedisLockStore } from '../../src/lock/redis-lock.store.js';
import { RedisStore, type Script, type Store, type StoreHealth } from '../../src/store/index.js';
import type { TestClock } from './clocked-redis.js';
import { eventually } from './eventually.js';
import { listen, type LockBench, START_US } from './lock-bench.js';
import type { RedisKind } from './lock-grounds.js';

/** One that takes writes, with a key of its own that says what time it is. */
interface Master {
  readonly client: Redis;
  readonly clockKey: string;
  readonly scripts: LockScripts;
}

/** A bench on Redis of any kind, over the store that production has. */
export async function topologyBench(redis: RedisKind, keyPrefix: string): Promise<LockBench> {
  const clock: TestClock = { us: START_US };
  const store = new RedisStore(redis.options(keyPrefix));
  await eventually(() => store.connected().then(() => true));
  const servers = await redis.masters();
  const masters = await Promise.all(
    servers.map(async (server) => {
      const clockKey = await clockKeyOn(redis, server.port);
      const client = new Redis(server.port, server.host);
      return { client, clockKey, scripts: loadLockScripts({ clock: { key: clockKey } }) };
    }),
  );
  const portOf = async (name: string): Promise<number> => (await redis.serverOf(name)).port;
  const masterOf = async (name: string): Promise<Master> => {
    const port = await portOf(name);
    const master = masters[servers.findIndex((server) => server.port === port)];
    if (master === undefined) throw new Error(`there is another master of ${name} now`);
    return master;
  };
  const clocked = new ClockedStore(store, clock, { masters, masterOf });
  const locks = new RedisLockStore(clocked);
  const heard = await listen(locks, () => clocked.settle());
  const close = async (): Promise<void> => {
    for (const { client } of masters) client.disconnect();
    await store.close();
  };
  return { store: locks, clock, heard, close };
}

/** A script reaches only what its node has. */
async function clockKeyOn(redis: RedisKind, port: number): Promise<string> {
  for (let number = 0; number < 200; number += 1) {
    const key = `test:clock:{${number}}`;
    if ((await redis.serverOf(key)).port === port) return key;
  }
  throw new Error(`no key lies on the server at ${port}`);
}

/** Scripts live in the test's time; keys do not end by Redis's. */
class ClockedStore implements Store {
  readonly #masterOfTag = new Map<string, Promise<Master>>();
  #settlements = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: TestClock,
    private readonly servers: {
      readonly masters: readonly Master[];
      readonly masterOf: (name: string) => Promise<Master>;
    },
  ) {}

  get kind(): Store['kind'] {
    return this.store.kind;
  }

  get keyPrefix(): string {
    return this.store.keyPrefix;
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const [name = ''] = keys;
    const { client, clockKey, scripts } = await this.#masterOf(name);
    const clocked = Object.values(scripts).find((one) => one.name === script.name);
    if (clocked === undefined) throw new Error(`there is no script ${script.name}`);
    await client.set(clockKey, this.clock.us);
    try {
      return await this.store.run(clocked, keys, args);
    } finally {
      await Promise.all(keys.map((key) => client.persist(key)));
    }
  }

  atTurnsEnd(work: () => void): void {
    this.store.atTurnsEnd(work);
  }

  subscribe(channel: string, receive: (message: string) => void): Promise<void> {
    return this.store.subscribe(channel, receive);
  }

  unsubscribe(channel: string): Promise<void> {
    return this.store.unsubscribe(channel);
  }

  scan(pattern: string): AsyncIterable<readonly string[]> {
    return this.store.scan(pattern);
  }

  health(): StoreHealth {
    return this.store.health();
  }

  /** Resolves when all that any master has published so far has been received: each one's messages come in order. */
  async settle(): Promise<void> {
    const { masters } = this.servers;
    this.#settlements += 1;
    const channel = `${this.keyPrefix}settled:${this.#settlements}`;
    const settled = new Set<string>();
    await this.subscribe(channel, (message) => settled.add(message));
    await Promise.all(masters.map(({ client }, index) => client.publish(channel, String(index))));
    await eventually(() => settled.size === masters.length);
    await this.unsubscribe(channel);
  }

  #masterOf(name: string): Promise<Master> {
    const known = this.#masterOfTag.get(name) ?? this.servers.masterOf(name);
    this.#masterOfTag.set(name, known);
    return known;
  }
}
