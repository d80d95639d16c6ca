import type { StoreFaultReason } from './store.errors.js';

/**
 * What a module that coordinates needs of a shared store: its scripts, run atomically, and messages between processes. The Redis
 * implementation of a module is written against this; its in-memory twin stands beside it in the module.
 */
export interface Store {
  readonly kind: 'standalone' | 'sentinel' | 'cluster';
  /** Prefix of every key and channel. No braces, so it never decides the cluster slot. */
  readonly keyPrefix: string;
  /**
   * Runs a script on the primary, with its own deadline, independent of the client's queues. While the store is down it fails at
   * once; nothing is kept for later.
   *
   * @param keys - whole names, made by the module's *.keys.ts; one hash tag
   * @param durability - by default the primary's word is enough
   * @throws StoreTimeoutError, StoreUnavailableError, StoreConfigurationError (wrong topology, password, database, type, slot, or a script that failed)
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    durability?: Durability,
  ): Promise<unknown>;
  /**
   * Calls once, when all that came in with the present turn of the event loop has been heard, and before what was run in it goes out:
   * whoever makes one script of several commands does it then. It must not throw.
   */
  atTurnsEnd(work: () => void): void;
  /**
   * One connection for all subscriptions. Resolves once the subscription is acknowledged. After a lost connection it subscribes
   * again by itself.
   *
   * @param channel - the whole name, prefix included
   * @param resumed - called when the subscription was lost and is back: what was published in between is gone
   */
  subscribe(channel: string, receive: (message: string) => void, resumed?: () => void): Promise<void>;
  /** Takes one receiver off the channel, or all of them; the subscription ends with the last. Never fails. */
  unsubscribe(channel: string, receive?: (message: string) => void): Promise<void>;
  /**
   * Names of keys that match a glob pattern, found by SCAN on every primary, in no order, each once. Each small step gives what it
   * found, also if that is nothing; it goes on for as long as it is read. For operators (the list of locks), never on the way of a
   * request.
   *
   * @throws StoreTimeoutError, StoreUnavailableError, StoreConfigurationError
   */
  scan(pattern: string): AsyncIterable<readonly string[]>;
  /** Known without asking. */
  health(): StoreHealth;
}

/** What else must have happened to a script's writes before it is answered. */
export interface Durability {
  /**
   * How many replicas must have received them (WAIT). Where they have not in time, it fails with StoreUnavailableError, although the
   * primary has them: repeat it. A failover to a replica that was not among them may still lose them.
   */
  readonly replicas: number;
}

/** The embedded store: everything that coordinates keeps its state in this process. */
export interface EmbeddedStore {
  readonly kind: 'memory';
  health(): { readonly kind: 'memory' };
}

/**
 * What StoreModule provides under STORE.
 *
 * @example
 * store.kind === 'memory' ? new MemoryLockStore(clock) : new RedisLockStore(store)
 */
export type AnyStore = Store | EmbeddedStore;

/** What calls do while the store is down: be refused, or go on with a local share of the limits. */
export type DownPolicy = 'refuse' | 'degrade';

export interface StoreHealth {
  readonly kind: 'redis';
  readonly policy: DownPolicy;
  /** How long the store has not answered, ms; 0 while it answers. */
  readonly downForMs: number;
  /** Where it is down until somebody changes something: what. */
  readonly reason?: StoreFaultReason;
}

/** A Lua script with its header parsed; made by loadScripts(). */
export interface Script {
  readonly name: string;
  /** With the prelude that defines now() in front. */
  readonly source: string;
  readonly sha1: string;
  readonly numberOfKeys: number;
  /** More keys than those may follow (`KEYS[n..]` in the header). */
  readonly takesMoreKeys: boolean;
}
