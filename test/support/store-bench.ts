import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisStore } from '../../src/store/index.js';
import { type RedisServer, startRedisServer } from './redis-server.js';

/** A command's deadline where a test waits for it to pass, ms. */
export const TIMEOUT_MS = 300;
/** Everywhere else: longer than a busy machine lets anything wait. */
export const PATIENT_MS = 10_000;

export interface BenchOptions {
  readonly password?: string;
  readonly keyPrefix?: string;
  readonly port?: number;
  readonly commandTimeoutMs?: number;
}

/** One server for all tests of a file, and stores on it that end with their test. */
export class StoreBench {
  readonly #opened: RedisStore[] = [];
  #server: RedisServer | undefined;
  #admin: Redis | undefined;

  get server(): RedisServer {
    if (this.#server === undefined) throw new Error('the server is started before the first test');
    return this.#server;
  }

  /** A client that looks on. */
  get admin(): Redis {
    if (this.#admin === undefined) throw new Error('the client is made before the first test');
    return this.#admin;
  }

  /** @param options `commandTimeoutMs`: TIMEOUT_MS for who waits for a server that says nothing */
  open(options: BenchOptions = {}): RedisStore {
    const store = new RedisStore({
      ...{ kind: 'standalone', host: this.server.host, port: this.server.port, db: 0, tls: false, keyPrefix: 't:' },
      ...{ commandTimeoutMs: PATIENT_MS, heartbeatMs: 50 },
      ...options,
    });
    this.keep(store);
    return store;
  }

  /** It ends with the test as well. */
  keep(store: RedisStore): void {
    this.#opened.push(store);
  }

  async start(): Promise<void> {
    this.#server = await startRedisServer();
    this.#admin = new Redis({ port: this.server.port, host: this.server.host });
    this.#admin.on('error', () => undefined);
  }

  async clear(): Promise<void> {
    this.server.thaw();
    await Promise.all(this.#opened.splice(0).map((store) => store.close()));
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    await this.server.stop();
  }
}

/** To be called at the top of a file of tests. */
export function storeBench(): StoreBench {
  const bench = new StoreBench();
  beforeAll(() => bench.start());
  afterEach(() => bench.clear());
  afterAll(() => bench.stop());
  return bench;
}
