import { Redis } from 'ioredis';
import { type LoadOptions, RedisStore, type Script, type Store, type StoreHealth } from '../../src/store/index.js';
import { slotText } from '../../src/store/names.js';
import type { TestClock } from './clocked-redis.js';
import { eventually } from './eventually.js';
import type { RedisKind } from './lock-grounds.js';

/** Loads a module's scripts. */
export type LoadAll = (options: LoadOptions) => Readonly<Record<string, Script>>;

/** The store that production has, on Redis of any kind, whose scripts live in the test's time. */
export interface ClockedGround {
  readonly store: Store;
  readonly clock: TestClock;
  /** Resolves when all that any master has published so far has been received. */
  readonly settle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** One that takes writes, with a key of its own that says what time it is. */
interface Master {
  readonly client: Redis;
  readonly port: number;
  readonly clockKey: string;
}

/** The masters of a Redis of any kind, as long as they stay what they are. */
export class ClockedTopology {
  readonly #masterOfTag = new Map<string, Promise<Master>>();

  private constructor(
    private readonly redis: RedisKind,
    private readonly masters: readonly Master[],
  ) {}

  static async start(redis: RedisKind): Promise<ClockedTopology> {
    const servers = await redis.masters();
    const masters = servers.map(async ({ host, port }) => {
      const clockKey = await clockKeyOn(redis, port);
      return { client: new Redis(port, host), port, clockKey };
    });
    return new ClockedTopology(redis, await Promise.all(masters));
  }

  /** @param keyPrefix one that nobody else has @param startUs what time it is */
  async ground(keyPrefix: string, startUs: number, load: LoadAll): Promise<ClockedGround> {
    const clock: TestClock = { us: startUs };
    const store = new RedisStore(this.redis.options(keyPrefix));
    await eventually(() => store.connected().then(() => true));
    const scripts = new Map<string, readonly Script[]>();
    for (const { clockKey } of this.masters) scripts.set(clockKey, Object.values(load({ clock: { key: clockKey } })));
    const clocked = new ClockedStore(store, clock, this, scripts);
    return { store: clocked, clock, settle: () => clocked.settle(this.masters), close: () => store.close() };
  }

  masterOf(name: string): Promise<Master> {
    const tag = slotText(name);
    const known = this.#masterOfTag.get(tag) ?? this.#find(name);
    this.#masterOfTag.set(tag, known);
    return known;
  }

  close(): void {
    for (const { client } of this.masters) client.disconnect();
  }

  async #find(name: string): Promise<Master> {
    const { port } = await this.redis.serverOf(name);
    const master = this.masters.find((one) => one.port === port);
    if (master === undefined) throw new Error(`there is another master of ${name} now`);
    return master;
  }
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
  #settlements = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: TestClock,
    private readonly topology: Pick<ClockedTopology, 'masterOf'>,
    /** By the key of the clock that they read. */
    private readonly scripts: ReadonlyMap<string, readonly Script[]>,
  ) {}

  get kind(): Store['kind'] {
    return this.store.kind;
  }

  get keyPrefix(): string {
    return this.store.keyPrefix;
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const [name = ''] = keys;
    const { client, clockKey } = await this.topology.masterOf(name);
    const clocked = this.scripts.get(clockKey)?.find((one) => one.name === script.name);
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
  async settle(masters: readonly Master[]): Promise<void> {
    this.#settlements += 1;
    const channel = `${this.keyPrefix}settled:${this.#settlements}`;
    const settled = new Set<string>();
    await this.subscribe(channel, (message) => settled.add(message));
    await Promise.all(masters.map(({ client }, index) => client.publish(channel, String(index))));
    await eventually(() => settled.size === masters.length);
    await this.unsubscribe(channel);
  }
}
