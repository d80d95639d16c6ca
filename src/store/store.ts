/**
 * What a module that coordinates needs of a shared store: its scripts, run atomically, and messages between processes. The Redis
 * implementation of a module is written against this; its in-memory twin stands beside it in the module.
 */
export interface Store {
  readonly kind: 'standalone' | 'sentinel' | 'cluster';
  /**
   * Runs a script on the primary, with its own deadline, independent of the client's queues.
   *
   * @param keys - whole names, made by the module's *.keys.ts; one hash tag
   * @throws StoreTimeoutError, StoreUnavailableError, StoreConfigurationError (wrong topology, password, type, slot)
   */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** One connection for all subscriptions. Resolves once the subscription is acknowledged. */
  subscribe(channel: string, receive: (message: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** Prefix of every key and channel. */
  readonly keyPrefix: string;
}

/** A Lua script with its header parsed; see LuaScripts. */
export interface Script {
  readonly name: string;
  /** With the prelude that defines now() in front. */
  readonly source: string;
  readonly sha1: string;
  readonly numberOfKeys: number;
}
