import type { Cluster, Redis } from 'ioredis';
import type { Deadline } from './deadline.js';
import { storeFault } from './redis.fault.js';
import { StoreConfigurationError, StoreUnavailableError } from './store.errors.js';
import type { Store } from './store.js';

export interface LinkRules<C> {
  readonly kind: Store['kind'];
  /** Starts a connection that ends by itself when it is lost. Undefined: there is nowhere to connect to now. */
  open(): C | undefined;
  /** Makes a connected client usable, or says why it isn't. */
  prepare(client: C): Promise<void>;
  /** Asks for a sign of life. */
  probe(client: C): Promise<void>;
  /** The longest time for connecting, and for an answer to a probe, ms. */
  readonly patienceMs: number;
  readonly heartbeatMs: number;
  /** Told when the connection is lost, can't be had, or answers a probe with a refusal. */
  readonly lost?: (fault: unknown) => void;
}

const FIRST_RETRY_MS = 25;
const LONGEST_RETRY_MS = 1_000;
const ENDED: Readonly<Record<Store['kind'], string>> = {
  standalone: 'the connection to redis ended',
  sentinel: 'the connection to redis ended',
  // ioredis leaves without a word where CLUSTER INFO says that the state is not ok.
  cluster: 'the cluster is not ready: its state is not ok, or the connection to it ended',
};
/** How long close() waits for sockets to end, ms. */
const CLOSE_MS = 1_000;

/**
 * One connection that is made anew whenever it ends, hangs while connecting, or gives no sign of life. Nothing is ever kept for
 * the next connection: who asks while there is none is told at once.
 */
export class Link<C extends Redis | Cluster> {
  #client: C | undefined;
  #isUsable = false;
  #isClosed = false;
  #fault: unknown;
  #failures = 0;
  #probing = false;
  #retry: NodeJS.Timeout | undefined;
  #giveUp: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  readonly #undecided = new Set<() => void>();
  readonly #ending = new Set<Promise<void>>();

  constructor(private readonly rules: LinkRules<C>) {}

  /** The client, while it may be used. */
  get client(): C | undefined {
    return this.#isUsable ? this.#client : undefined;
  }

  start(): void {
    if (this.#isClosed || this.#heartbeat !== undefined) return;
    this.#heartbeat = setInterval(() => void this.#beat(), this.rules.heartbeatMs).unref();
    this.#open();
  }

  /**
   * The client. Waits only while the very first connection is being made; later it is there or not.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  async usable(deadline: Deadline): Promise<C> {
    if (!this.#isUsable && this.#fault === undefined && !this.#isClosed) await this.#decided();
    if (deadline.isOver) throw new StoreUnavailableError('too late to send');
    if (this.client !== undefined) return this.client;
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed');
    throw this.#refusal();
  }

  /** Gives up the connection and makes another one, without the patience that failures have taught. */
  renew(reason: unknown): void {
    this.#failures = 0;
    this.#lose(this.#client, reason);
  }

  /** Ends the connection for good; resolves when its sockets are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isUsable = false;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#retry);
    clearTimeout(this.#giveUp);
    if (this.#client !== undefined) this.#end(this.#client);
    this.#client = undefined;
    this.#decide();
    await Promise.all(this.#ending);
  }

  #open(): void {
    const client = this.rules.open();
    this.#client = client;
    if (client === undefined) {
      this.#lose(undefined, new StoreUnavailableError('no node of the cluster is known yet'));
      return;
    }
    const faults: unknown[] = [];
    const note = (error: unknown): unknown => faults.push(storeFault(error, this.rules.kind));
    client.on('error', note).on('sentinelError', note).on('node error', note);
    client.once('end', () => {
      this.#lose(client, worst(faults));
    });
    client.once('ready', () => void this.#prepare(client, faults));
    this.#giveUp = setTimeout(() => {
      this.#lose(client, new StoreUnavailableError('redis takes connections but does not answer'));
    }, this.rules.patienceMs);
  }

  async #prepare(client: C, faults: unknown[]): Promise<void> {
    try {
      await this.rules.prepare(client);
    } catch (error) {
      faults.push(storeFault(error, this.rules.kind));
      this.#lose(client, worst(faults));
      return;
    }
    if (client !== this.#client || this.#isClosed) return;
    clearTimeout(this.#giveUp);
    this.#isUsable = true;
    this.#failures = 0;
    this.#fault = undefined;
    this.#decide();
  }

  #lose(client: C | undefined, reason: unknown): void {
    if (client !== this.#client || this.#isClosed) return;
    clearTimeout(this.#giveUp);
    // Where the next connection is planned already, it takes its place: two would be open, and one of them nobody's.
    clearTimeout(this.#retry);
    this.#client = undefined;
    this.#isUsable = false;
    this.#fault = reason ?? new StoreUnavailableError(ENDED[this.rules.kind]);
    this.rules.lost?.(this.#fault);
    this.#decide();
    if (client !== undefined) this.#end(client);
    this.#retry = setTimeout(() => {
      this.#open();
    }, this.#nextDelayMs());
  }

  /** Doubles up to a second; at random, so that the pods do not come back all at once. */
  #nextDelayMs(): number {
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    return delayMs * (0.5 + Math.random() / 2);
  }

  #end(client: C): void {
    if (client.status === 'end') return;
    const ended = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS).unref();
      client.once('end', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
    client.disconnect();
  }

  async #beat(): Promise<void> {
    const { client } = this;
    if (client === undefined || this.#probing) return;
    this.#probing = true;
    const timer = setTimeout(() => {
      this.#lose(client, new StoreUnavailableError('redis gives no sign of life'));
    }, this.rules.patienceMs);
    try {
      await this.rules.probe(client);
    } catch (error) {
      // A reply, even a refusal, is a sign of life; a connection that ended says so itself.
      if (client === this.#client) this.rules.lost?.(storeFault(error, this.rules.kind));
    } finally {
      clearTimeout(timer);
      this.#probing = false;
    }
  }

  #decided(): Promise<void> {
    return new Promise((resolve) => this.#undecided.add(resolve));
  }

  #decide(): void {
    for (const resolve of this.#undecided) resolve();
    this.#undecided.clear();
  }

  /** A new error for each caller, so that stacks and fields are its own. */
  #refusal(): unknown {
    const fault = this.#fault;
    if (fault instanceof StoreConfigurationError) {
      return new StoreConfigurationError(fault.reason, fault.message, { cause: fault });
    }
    const message = fault instanceof Error ? fault.message : 'redis is not reachable';
    return new StoreUnavailableError(message, { cause: fault });
  }
}

/** Of several faults of one attempt the one that somebody can do something about. */
function worst(faults: readonly unknown[]): unknown {
  return faults.find((fault) => fault instanceof StoreConfigurationError) ?? faults.at(-1);
}
