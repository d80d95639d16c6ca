import type { Cluster, Redis } from 'ioredis';
import { MemoryLockStore, RedisLockStore } from '../../src/lock/index.js';
import { loadLockScripts } from '../../src/lock/lock.scripts.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/index.js';
import { eventually } from './eventually.js';
import { type FaultProxy, startFaultProxy } from './fault-proxy.js';
import type { LockFleet, LockGround } from './lock-world.js';
import type { RedisServer } from './redis-server.js';
import { REAL_TIME, VirtualTime } from './test-time.js';

/** Locks in this process alone. */
export function memoryGround(): LockGround {
  const fleet = (): Promise<LockFleet> => {
    const store = new MemoryLockStore();
    return Promise.resolve({ open: () => Promise.resolve(store), close: () => Promise.resolve() });
  };
  return { time: new VirtualTime(), fleet, stop: () => Promise.resolve() };
}

/** One way to run Redis; see redis-kinds.ts. */
export interface RedisKind {
  readonly kind: 'standalone' | 'sentinel' | 'cluster';
  readonly servers: readonly RedisServer[];
  options(keyPrefix: string): RedisStoreOptions;
  /** The same for a server of ours. */
  readonly environment: Readonly<Record<string, string>>;
  /** The server that keeps this name now. */
  serverOf(name: string): Promise<RedisServer>;
  /** All that take writes now. */
  masters(): Promise<readonly RedisServer[]>;
  /** A client that reaches every server by its proxy only. It is made and not connected. */
  clientThrough(proxyOf: (server: { host: string; port: number }) => FaultProxy): Redis | Cluster;
  /** Makes a replica the master of this name, planned; where there are replicas. */
  failOver(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** So that a connection without a sign of life is given up soon. */
const IMPATIENT = { commandTimeoutMs: 400, heartbeatMs: 100 };

export interface ProxiedFleet extends LockFleet {
  readonly keyPrefix: string;
  /** One before each server. */
  readonly proxies: readonly FaultProxy[];
}

/** One reading for all pods and for who watches what they send. */
export const LOCK_SCRIPTS = loadLockScripts();

let fleets = 0;

/** Locks on Redis: each fleet under a prefix of its own. */
export class RedisGround implements LockGround {
  readonly time = REAL_TIME;

  constructor(
    readonly redis: RedisKind,
    /** Made by it: in place of its own way to open a store. */
    private readonly optionsFor: (keyPrefix: string) => RedisStoreOptions = (keyPrefix) => redis.options(keyPrefix),
    /** What the client puts before all names. */
    readonly prefix = '',
  ) {}

  fleet(): Promise<LockFleet> {
    return Promise.resolve(this.fleetUnder(nextPrefix()));
  }

  /** A fleet on names that the test chooses. */
  fleetUnder(keyPrefix: string): LockFleet {
    return fleetOf(() => this.optionsFor(keyPrefix));
  }

  async fleetBehindProxies(keyPrefix = nextPrefix()): Promise<ProxiedFleet> {
    const { servers } = this.redis;
    const proxies = await Promise.all(servers.map((target) => startFaultProxy({ target })));
    const client = this.redis.clientThrough(({ host, port }) => {
      const proxy = proxies[servers.findIndex((server) => server.host === host && server.port === port)];
      if (proxy === undefined) throw new Error(`there is no server at ${host}:${port}`);
      return proxy;
    });
    const fleet = fleetOf(() => ({ kind: 'client', client, keyPrefix, ...IMPATIENT }));
    const close = async (): Promise<void> => {
      await fleet.close();
      client.disconnect();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    };
    return { keyPrefix, proxies, open: () => fleet.open(), close };
  }

  stop(): Promise<void> {
    return this.redis.stop();
  }
}

function nextPrefix(): string {
  fleets += 1;
  return `t${fleets}:`;
}

function fleetOf(options: () => RedisStoreOptions): LockFleet {
  const opened: RedisStore[] = [];
  const open = async (): Promise<RedisLockStore> => {
    const store = new RedisStore(options());
    opened.push(store);
    // A cluster that has just begun, or fails over, is not ready at once.
    await eventually(() => store.connected().then(() => true));
    return new RedisLockStore(store, LOCK_SCRIPTS);
  };
  const close = async (): Promise<void> => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  };
  return { open, close };
}
