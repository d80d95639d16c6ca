import type { Cluster, Redis } from 'ioredis';
import { StoreConfigurationError } from './store.errors.js';
import type { DownPolicy } from './store.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** How to sign in to every Redis node. */
export interface RedisAccess {
  readonly username?: string;
  readonly password?: string;
  /** The database number; 0 in a cluster. */
  readonly db: number;
  readonly tls: boolean;
  /** PEM text of the CA that signed the servers' certificates, where the system doesn't know it. */
  readonly tlsCa?: string;
  /** PEM texts of the certificate and its key that this side shows, where the servers ask for one. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** In front of every key and channel: at most 64 letters, digits and `: . _ -`. */
  readonly keyPrefix: string;
}

export interface StandaloneOptions extends RedisAccess, Address {
  readonly kind: 'standalone';
}

export interface SentinelOptions extends RedisAccess {
  readonly kind: 'sentinel';
  readonly sentinels: readonly Address[];
  /** The name of the master group that the sentinels watch. */
  readonly master: string;
  /** The sentinels' own user and password, where they have them. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
}

export interface ClusterOptions extends RedisAccess {
  readonly kind: 'cluster';
  /** Some nodes; the rest is found through them. */
  readonly nodes: readonly Address[];
}

/**
 * A client that the application has already. It says where Redis is and how to sign in; the store opens its own connections from
 * it, by its own rules, and neither uses nor closes the client itself.
 */
export interface ClientOptions {
  readonly kind: 'client';
  readonly client: Redis | Cluster;
  /** In front of every key and channel, after the client's own keyPrefix. */
  readonly keyPrefix: string;
}

export interface StoreTuning {
  /** Deadline of each command, ms; from 10 to 2^30. Default 1,000. */
  readonly commandTimeoutMs?: number;
  /** How often an idle connection is asked for a sign of life, ms; from 10 to 2^30. Default 1,000. */
  readonly heartbeatMs?: number;
  /** What calls do while the store is down. Default `refuse`. */
  readonly policy?: DownPolicy;
  /** What operators see in CLIENT LIST. Default `coordinator`. */
  readonly connectionName?: string;
  /** Told of what works but shouldn't stay so, e.g. an eviction policy that may delete locks. Default: nobody. */
  readonly notify?: (notice: string) => void;
}

/** Where Redis is, in the shape of the settings, and how to use it. */
export type RedisStoreOptions = (StandaloneOptions | SentinelOptions | ClusterOptions | ClientOptions) & StoreTuning;

/** What is said and what is usual; the values are checked by then. */
export function parseTuning(options: StoreTuning): Required<StoreTuning> {
  return {
    commandTimeoutMs: options.commandTimeoutMs ?? 1_000,
    heartbeatMs: options.heartbeatMs ?? 1_000,
    policy: options.policy ?? 'refuse',
    connectionName: options.connectionName ?? 'coordinator',
    notify: options.notify ?? (() => undefined),
  };
}

/** @throws StoreConfigurationError `wrong_options` */
export function parseKeyPrefix(keyPrefix: string): string {
  if (/^[\w:.-]{0,128}$/.test(keyPrefix)) return keyPrefix;
  throw new StoreConfigurationError(
    'wrong_options',
    `the key prefix ${JSON.stringify(keyPrefix)} must be letters, digits and : . _ - (braces would choose the cluster slot)`,
  );
}
