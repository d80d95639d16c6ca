import { LeftMaster } from './left.master.js';
import { slotText } from './names.js';
import { type Clients, clientsFor } from './redis.clients.js';
import { type RedisCommand, RedisCommands } from './redis.commands.js';
import { parseTuning, type RedisStoreOptions, type StoreTuning } from './redis.options.js';
import { checkOptions } from './redis.options.rules.js';
import { RedisSubscriber } from './redis.subscriber.js';
import { SentinelWatch } from './sentinel.watch.js';
import { SlotGuard } from './slot.guard.js';
import { StoreConfigurationError } from './store.errors.js';
import type { Durability, Script, Store, StoreHealth } from './store.js';

const PRIMARY: Durability = { replicas: 0 };

/**
 * A store on one Redis, on a master that sentinels watch, or on a Redis Cluster. It connects by itself, at once and again after
 * every loss; nothing is ever read from a replica.
 *
 * @throws StoreConfigurationError `wrong_options`
 * @example
 * const store = new RedisStore({ kind: 'standalone', host: '127.0.0.1', port: 6379, db: 0, tls: false, keyPrefix: 'shop:' });
 * const own = new RedisStore({ kind: 'client', client: new Redis(), keyPrefix: 'shop:' });
 */
export class RedisStore implements Store {
  readonly kind: Store['kind'];
  readonly keyPrefix: string;
  readonly #tuning: Required<StoreTuning>;
  readonly #clients: Clients;
  readonly #commands: RedisCommands;
  readonly #subscriber: RedisSubscriber;
  readonly #left = new LeftMaster();
  readonly #watch: SentinelWatch | undefined;
  readonly #guard: SlotGuard | undefined;
  #waiting: RedisCommands | undefined;

  constructor(options: RedisStoreOptions) {
    checkOptions(options);
    this.#tuning = parseTuning(options);
    const clients = clientsFor(options, {
      connectionName: this.#tuning.connectionName,
      connectTimeoutMs: this.#tuning.commandTimeoutMs,
    });
    this.#clients = clients;
    this.kind = clients.kind;
    this.keyPrefix = clients.keyPrefix;
    this.#guard = clients.kind === 'cluster' ? new SlotGuard(clients.keyPrefix) : undefined;
    this.#commands = new RedisCommands(clients, this.#tuning, this.#left, (wasDemoted) => {
      // What others publish on the next master is heard there only.
      if (clients.kind === 'sentinel' || wasDemoted) this.#subscriber.renew();
    });
    this.#subscriber = new RedisSubscriber(clients, this.#tuning, this.#commands);
    if (clients.sentinels === undefined) return;
    this.#watch = new SentinelWatch(clients.sentinels, this.#tuning, {
      leaving: (master) => {
        this.#left.leave(master);
        this.#commands.leave();
        this.#waiting?.leave();
      },
      switched: (master) => {
        this.#left.follow(master);
        this.#commands.follow(master);
        this.#waiting?.follow(master);
      },
    });
  }

  /** Resolves when the first connection is there. @throws StoreError what a command would meet now; the store goes on trying */
  connected(): Promise<void> {
    return this.#commands.connected();
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    { replicas }: Durability = PRIMARY,
  ): Promise<unknown> {
    checkKeys(script, keys);
    const { sha1, source } = this.#guard?.guarded(script) ?? script;
    const named = this.#guard === undefined ? keys : [...keys, this.#guard.keyFor(keys)];
    const rest = [named.length, ...named, ...args];
    const command = { name: 'evalsha', args: [sha1, ...rest] };
    const alternative = (): RedisCommand => ({ name: 'eval', args: [source, ...rest] });
    try {
      if (replicas === 0) return await this.#commands.send(script.name, command, alternative);
      return await this.#patient().sendDurably(script.name, command, { alternative, replicas });
    } catch (error) {
      throw namingKeys(error, keys);
    }
  }

  atTurnsEnd(work: () => void): void {
    this.#commands.atTurnsEnd(work);
  }

  subscribe(channel: string, receive: (message: string) => void, resumed?: () => void): Promise<void> {
    return this.#subscriber.subscribe(channel, receive, resumed);
  }

  unsubscribe(channel: string, receive?: (message: string) => void): Promise<void> {
    return this.#subscriber.unsubscribe(channel, receive);
  }

  scan(pattern: string): AsyncIterable<readonly string[]> {
    return this.#commands.scan(pattern);
  }

  health(): StoreHealth {
    const { downForMs, downReason: reason } = this.#commands;
    return { kind: 'redis', policy: this.#tuning.policy, downForMs, ...(reason !== undefined && { reason }) };
  }

  /** Ends the store's own connections; what is under way fails. A client that was passed in stays as it is. */
  async close(): Promise<void> {
    await Promise.all([this.#watch?.close(), this.#subscriber.close(), this.#commands.close(), this.#waiting?.close()]);
  }

  /** WAIT holds its connection up, and counts the writes of that connection alone: it has one of its own, which no lock stands behind. */
  #patient(): RedisCommands {
    this.#waiting ??= new RedisCommands(this.#clients, this.#tuning, this.#left, () => undefined);
    return this.#waiting;
  }
}

/** On one server any keys would do; the mistake must not wait for the first cluster. */
function checkKeys({ name, numberOfKeys, takesMoreKeys }: Script, keys: readonly string[]): void {
  if (keys.length < numberOfKeys || (keys.length > numberOfKeys && !takesMoreKeys)) {
    throw new TypeError(`the script ${name} takes ${numberOfKeys} keys, not ${keys.length}`);
  }
  const [first = ''] = keys;
  const slot = slotText(first);
  const other = keys.findIndex((key) => slotText(key) !== slot);
  if (other < 0) return;
  throw new StoreConfigurationError(
    'cross_slot',
    `the keys of the script ${name} need one {hash tag}, which ${JSON.stringify(keys[0])} and ` +
      `${JSON.stringify(keys[other])} have not in common`,
  );
}

function namingKeys(error: unknown, keys: readonly string[]): unknown {
  if (!(error instanceof StoreConfigurationError)) return error;
  const { reason, message, mayHaveRun } = error;
  if (reason !== 'wrong_type' && reason !== 'script_failed') return error;
  const names = keys.map((key) => JSON.stringify(key)).join(', ');
  return new StoreConfigurationError(reason, `${message} (one of ${names})`, { cause: error, mayHaveRun });
}
