import type { Redis } from 'ioredis';
import { type Deadline, withDeadline } from './deadline.js';
import { Link } from './link.js';
import type { Clients } from './redis.clients.js';
import type { RedisCommands } from './redis.commands.js';
import { storeFault } from './redis.fault.js';
import type { StoreTuning } from './redis.options.js';
import { StoreError } from './store.errors.js';

interface Receiver {
  readonly receive: (message: string) => void;
  readonly resumed: (() => void) | undefined;
  /** Whether it was subscribed before: only then it can come back. */
  wasSubscribed: boolean;
}

/** One connection for all channels, opened with the first of them. */
export class RedisSubscriber {
  readonly #receivers = new Map<string, Receiver[]>();
  readonly #link: Link<Redis>;

  /** @param commands the command connection: in a cluster it knows the nodes */
  constructor(
    private readonly clients: Clients,
    private readonly tuning: Required<StoreTuning>,
    private readonly commands: Pick<RedisCommands, 'client' | 'usable'>,
  ) {
    this.#link = new Link<Redis>({
      kind: clients.kind,
      open: () => this.#listen(clients.openSubscriber(commands.client)),
      prepare: (client) => this.#resume(client),
      probe: async (client) => {
        await client.ping();
      },
      patienceMs: 2 * tuning.commandTimeoutMs,
      heartbeatMs: tuning.heartbeatMs,
    });
  }

  /** @throws StoreTimeoutError, StoreUnavailableError, StoreConfigurationError; then it is not subscribed */
  async subscribe(channel: string, receive: Receiver['receive'], resumed?: () => void): Promise<void> {
    const receiver: Receiver = { receive, resumed, wasSubscribed: false };
    this.#receivers.set(channel, [...(this.#receivers.get(channel) ?? []), receiver]);
    try {
      await this.#send('SUBSCRIBE', (client) => client.subscribe(channel));
      receiver.wasSubscribed = true;
    } catch (error) {
      await this.#drop(channel, (other) => other !== receiver);
      throw error;
    }
  }

  async unsubscribe(channel: string, receive?: (message: string) => void): Promise<void> {
    await this.#drop(channel, (receiver) => receive !== undefined && receiver.receive !== receive);
  }

  /** After a failover: the old master may still be there, and hears nothing any more. */
  renew(): void {
    if (this.#link.client !== undefined) this.#link.renew(undefined);
  }

  async close(): Promise<void> {
    this.#receivers.clear();
    await this.#link.close();
  }

  async #drop(channel: string, keeps: (receiver: Receiver) => boolean): Promise<void> {
    const kept = (this.#receivers.get(channel) ?? []).filter(keeps);
    if (kept.length > 0) {
      this.#receivers.set(channel, kept);
      return;
    }
    if (!this.#receivers.delete(channel) || this.#link.client === undefined) return;
    try {
      await this.#send('UNSUBSCRIBE', (client) => client.unsubscribe(channel));
    } catch (error) {
      // A connection that is lost has no subscriptions, and the next one takes only the channels that are wanted.
      if (!(error instanceof StoreError)) throw error;
      this.#link.renew(error);
    }
  }

  async #send(label: string, command: (client: Redis) => Promise<unknown>): Promise<void> {
    const { commandTimeoutMs } = this.tuning;
    try {
      await withDeadline(label, commandTimeoutMs, async (deadline) => command(await this.#usable(deadline)));
    } catch (error) {
      throw storeFault(error, this.clients.kind);
    }
  }

  async #usable(deadline: Deadline): Promise<Redis> {
    if (this.clients.kind === 'cluster' && this.#link.client === undefined) await this.commands.usable(deadline);
    this.#link.start();
    return this.#link.usable(deadline);
  }

  #listen(client: Redis | undefined): Redis | undefined {
    return client?.on('message', (channel: string, message: string) => {
      for (const { receive } of this.#receivers.get(channel) ?? []) {
        // In its own turn: what a receiver throws must not end up in the connection's parser.
        queueMicrotask(() => {
          receive(message);
        });
      }
    });
  }

  async #resume(client: Redis): Promise<void> {
    const lost = [...this.#receivers.values()].flat().filter(({ wasSubscribed }) => wasSubscribed);
    await this.#subscribeAll(client);
    for (const { resumed } of lost) if (resumed !== undefined) queueMicrotask(resumed);
  }

  /** Without those who gave up meanwhile: they could not say so on a connection that was not yet in use. */
  async #subscribeAll(client: Redis): Promise<void> {
    const isWanted = (channel: string): boolean => this.#receivers.has(channel);
    let channels = [...this.#receivers.keys()];
    if (channels.length > 0) await client.subscribe(...channels);
    while (!channels.every(isWanted)) {
      const unwanted = channels.filter((channel) => !isWanted(channel));
      channels = channels.filter(isWanted);
      await client.unsubscribe(...unwanted);
    }
  }
}
