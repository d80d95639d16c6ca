/**
 * How a client process takes and releases a lock of each kind. All of them get one ioredis connection (ours opens its own) and do
 * what their documentation shows. An adapter: `take(key)` resolves with the function that releases; `hold(key, lost)` takes it for
 * a short lease, renews it by itself and tells when it is lost.
 */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';
import { createLock, IoredisAdapter } from 'redlock-universal';
import { openBare } from './bare-hand-off.mjs';

const HOST = '127.0.0.1';
const LEASE_MS = 30_000;
/** Nobody gives up within a run. */
const PATIENCE_MS = 600_000;
/** Twice the hold of the contended cells: a shorter one only makes the pollers stand in each other's way. */
const RETRY_MS = 10;
const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

/** @typedef {{ port: number, isTuned: boolean, leaseMs?: number }} AdapterOptions */

/** @type {Record<string, (options: AdapterOptions) => Promise<object>>} */
export const ADAPTERS = {
  raw: openRaw,
  bare: ({ port }) => openBare(connect(port), connect(port)),
  coordinator: openCoordinator,
  redlock: openRedlock,
  'redis-semaphore': openRedisSemaphore,
  'redlock-universal': openRedlockUniversal,
};

function connect(port) {
  return new Redis(port, HOST);
}

/** The least that is right as long as nothing fails: SET NX PX, and a compare-and-delete. */
async function openRaw({ port }) {
  const redis = connect(port);
  const sha = await redis.script('LOAD', COMPARE_AND_DELETE);
  return {
    async take(key) {
      const token = randomUUID();
      if ((await redis.set(key, token, 'PX', LEASE_MS, 'NX')) !== 'OK') throw new Error(`${key} is taken`);
      return () => redis.evalsha(sha, 1, key, token);
    },
  };
}

/** As an application has it: a Nest module, with its shutdown hooks on. */
async function openCoordinator({ port, leaseMs = LEASE_MS }) {
  await import('reflect-metadata');
  const { NestFactory } = await import('@nestjs/core');
  const { LockModule, LockService } = await import('../../dist/lock/index.js');
  const { STORE, StoreModule } = await import('../../dist/store/index.js');
  const redis = { kind: 'standalone', host: HOST, port, db: 0, tls: false, keyPrefix: 'coordinator:' };
  const locksOn = { inject: [STORE], useFactory: (store) => ({ store, graceMs: 0 }) };
  class Application {}
  const module = { module: Application, imports: [StoreModule.forRoot(redis), LockModule.forRootAsync(locksOn)] };
  const application = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  application.enableShutdownHooks();
  const locks = application.get(LockService);
  return {
    async take(key) {
      const lease = await locks.acquire(key, { leaseMs });
      return () => lease.release();
    },
    async hold(key, lost) {
      const lease = await locks.acquire(key, { leaseMs });
      lease.signal.addEventListener('abort', lost);
    },
  };
}

async function openRedlock({ port, isTuned, leaseMs = LEASE_MS }) {
  const redlock = new Redlock([connect(port)], isTuned ? { retryCount: -1, retryDelay: RETRY_MS, retryJitter: 5 } : {});
  // Without a listener its errors would end the process.
  redlock.on('error', () => undefined);
  return {
    async take(key) {
      const lock = await redlock.acquire([key], leaseMs);
      return () => lock.release();
    },
    hold: (key, lost) => untilBegun((begun) => redlock.using([key], leaseMs, (signal) => working(signal, begun, lost))),
  };
}

async function openRedisSemaphore({ port, isTuned, leaseMs }) {
  const redis = connect(port);
  const options = {
    ...(leaseMs && { lockTimeout: leaseMs }),
    ...(isTuned && { acquireTimeout: PATIENCE_MS, retryInterval: RETRY_MS }),
  };
  const acquire = async (key, more = {}) => {
    const mutex = new Mutex(redis, key, { ...options, ...more });
    await mutex.acquire();
    return () => mutex.release();
  };
  return { take: (key) => acquire(key), hold: (key, lost) => acquire(key, { onLockLost: lost }) };
}

async function openRedlockUniversal({ port, isTuned, leaseMs = LEASE_MS }) {
  const adapter = new IoredisAdapter(connect(port));
  const tuning = isTuned ? { retryAttempts: PATIENCE_MS / RETRY_MS, retryDelay: RETRY_MS } : {};
  const lockOf = (key) => createLock({ adapter, key, ttl: leaseMs, ...tuning });
  return {
    async take(key) {
      const lock = lockOf(key);
      const handle = await lock.acquire();
      return () => lock.release(handle);
    },
    hold: (key, lost) => untilBegun((begun) => lockOf(key).using((signal) => working(signal, begun, lost))),
  };
}

/** Work that goes on until its signal aborts. */
async function working(signal, begun, lost) {
  begun();
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  lost();
}

/** Resolves when the routine under the lock has begun; what becomes of it later is not asked. */
function untilBegun(run) {
  return new Promise((resolve, reject) => {
    run(resolve).catch(reject);
  });
}
