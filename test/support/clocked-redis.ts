import { Redis } from 'ioredis';
import type { Script, Store, StoreHealth } from '../../src/store/index.js';

/** Where scripts loaded with `{ clock: { key } }` read the time. */
export const CLOCK_KEY = 'test:clock';

/** µs since 1970, set by the test. */
export interface TestClock {
  us: number;
}

/**
 * A Store over plain connections whose scripts live in the test's time. Redis ends keys by its own time, so their lives are noted
 * and then made endless: what is over must be decided by the scripts.
 */
export class ClockedRedis implements Store {
  readonly kind = 'standalone';
  /** Of the keys of the last script in ms, as PTTL says it: -1 endless, -2 no such key. */
  lives: readonly number[] = [];
  private readonly receivers = new Map<string, (message: string) => void>();
  private readonly loaded = new Set<string>();
  private settlements = 0;

  constructor(
    readonly keyPrefix: string,
    private readonly clock: TestClock,
    private readonly client: Redis,
    private readonly subscriber: Redis,
  ) {
    subscriber.on('message', (channel: string, message: string) => this.receivers.get(channel)?.(message));
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (!this.loaded.has(script.sha1)) await this.client.script('LOAD', script.source);
    this.loaded.add(script.sha1);
    const batch = this.client.pipeline().set(CLOCK_KEY, this.clock.us);
    batch.evalsha(script.sha1, keys.length, ...keys, ...args);
    for (const key of keys) batch.pttl(key);
    for (const key of keys) batch.persist(key);
    const [, answer, ...rest] = (await batch.exec()) ?? [];
    this.lives = rest.slice(0, keys.length).map(([, life]) => Number(life));
    const [fault, reply] = answer ?? [];
    if (fault) throw fault;
    return reply;
  }

  atTurnsEnd(work: () => void): void {
    setImmediate(work);
  }

  async subscribe(channel: string, receive: (message: string) => void): Promise<void> {
    this.receivers.set(channel, receive);
    await this.subscriber.subscribe(channel);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.receivers.delete(channel);
    await this.subscriber.unsubscribe(channel);
  }

  async *scan(pattern: string): AsyncGenerator<readonly string[]> {
    const names = new Set<string>();
    for await (const batch of this.client.scanStream({ match: pattern, count: 100 })) {
      for (const name of batch as string[]) names.add(name);
    }
    yield [...names];
  }

  health(): StoreHealth {
    return { kind: 'redis', policy: 'refuse', downForMs: 0 };
  }

  /** Resolves when all that was published so far has been received. */
  async settle(): Promise<void> {
    this.settlements += 1;
    const channel = `${this.keyPrefix}settled:${this.settlements}`;
    const settled = new Promise<void>((resolve) => {
      this.receivers.set(channel, () => {
        resolve();
      });
    });
    await this.subscriber.subscribe(channel);
    await this.client.publish(channel, '');
    await settled;
    await this.unsubscribe(channel);
  }
}

/** A server of the test's in its time. */
export interface ClockedServer {
  readonly redis: ClockedRedis;
  readonly client: Redis;
  /** May be called again. */
  close(): Promise<void>;
}

/** Connects to a server. */
export function clockedRedis(
  { host, port }: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock,
): ClockedServer {
  const client = new Redis(port, host);
  const subscriber = new Redis(port, host);
  let closed: Promise<void> | undefined;
  return {
    redis: new ClockedRedis(prefix, clock, client, subscriber),
    client,
    close: () => (closed ??= quit([client, subscriber])),
  };
}

/** In order: what is on its way is done with. */
async function quit(connections: readonly Redis[]): Promise<void> {
  for (const connection of connections) {
    if (connection.status === 'ready') await connection.quit();
    else connection.disconnect();
  }
}

/** What was told in this process has been received by then. */
export function settleInProcess(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
