import { describe, expect, it } from '@jest/globals';
import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  type AnyStore,
  parseScript,
  RedisStore,
  STORE,
  StoreModule,
  type StoreModuleOptions,
} from '../../src/store/index.js';
import { COUNT } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer } from '../support/redis-server.js';

const TUNING = { commandTimeoutMs: 300, heartbeatMs: 50 };

function at(port: number, more: { password?: string; notify?: (notice: string) => void } = {}): StoreModuleOptions {
  return { kind: 'standalone', host: '127.0.0.1', port, db: 0, tls: false, keyPrefix: 'm:', ...TUNING, ...more };
}

/** Uses the store to the last: what it does when the application ends must still get through. */
@Injectable()
class LastWord implements OnApplicationShutdown {
  answer: unknown;

  constructor(@Inject(STORE) readonly store: AnyStore) {}

  async onApplicationShutdown(): Promise<void> {
    if (this.store.kind !== 'memory') this.answer = await this.store.run(COUNT, ['m:{last}'], [1]);
  }
}

@Module({ providers: [LastWord], exports: [LastWord] })
class LastWordModule {}

/** Global modules end in the reverse order of their imports, so they say it a phase earlier. */
@Injectable()
class EarlyWord implements BeforeApplicationShutdown {
  answer: unknown;

  constructor(@Inject(STORE) private readonly store: AnyStore) {}

  async beforeApplicationShutdown(): Promise<void> {
    if (this.store.kind !== 'memory') this.answer = await this.store.run(COUNT, ['m:{early}'], [1]);
  }
}

@Global()
@Module({ providers: [EarlyWord], exports: [EarlyWord] })
class EarlyWordModule {}

describe('StoreModule', () => {
  it('gives every module the embedded store', async () => {
    const module = await Test.createTestingModule({
      imports: [LastWordModule, StoreModule.forRoot({ kind: 'memory' })],
    }).compile();
    const { store } = module.get(LastWord);
    expect(store.kind).toBe('memory');
    expect(store.health()).toEqual({ kind: 'memory' });
    await module.close();
  });

  it.each([
    ['before', [EarlyWordModule, LastWordModule]],
    ['after', []],
  ])('closes the store after the modules that use it, imported %s it', async (_, before) => {
    const server = await startRedisServer();
    const module = await Test.createTestingModule({
      imports: [
        ...before,
        StoreModule.forRootAsync({ useFactory: () => at(server.port) }),
        ...(before.length > 0 ? [] : [EarlyWordModule, LastWordModule]),
      ],
    }).compile();
    await module.init();
    const last = module.get(LastWord);
    expect(last.store).toBeInstanceOf(RedisStore);
    await module.close();
    expect(last.answer).toBe(1);
    expect(module.get(EarlyWord).answer).toBe(1);
    const admin = new Redis({ port: server.port });
    await eventually(async () => !String(await admin.client('LIST')).includes('name=coordinator'));
    admin.disconnect();
    await server.stop();
  });

  it('starts while Redis is down, says so, and works once it is there', async () => {
    const server = await startRedisServer();
    await server.crash();
    const notices: string[] = [];
    const options = at(server.port, { notify: (notice) => notices.push(notice) });
    const module = await Test.createTestingModule({ imports: [StoreModule.forRoot(options)] }).compile();
    const store = module.get<AnyStore>(STORE);
    expect(notices).toEqual([expect.stringContaining('not there yet')]);
    await server.restart();
    await eventually(() => 'downForMs' in store.health() && JSON.stringify(store.health()).includes('"downForMs":0'));
    await module.close();
    await server.stop();
  });

  it('does not start with a wrong password, and leaves no connection', async () => {
    const server = await startRedisServer(['--requirepass', 'right']);
    const booting = Test.createTestingModule({
      imports: [StoreModule.forRoot(at(server.port, { password: 'wrong' }))],
    });
    await expect(booting.compile()).rejects.toMatchObject({ reason: 'wrong_password' });
    await server.stop();
  });
});

describe('now() of the scripts', () => {
  const lua = '-- Tells the time.\n-- Returns it.\nreturn string.format("%.0f", now())';

  it('is the time of the server in microseconds, and in tests that of a key', async () => {
    const server = await startRedisServer();
    const admin = new Redis({ port: server.port });
    const store = new RedisStore({ kind: 'client', client: admin, keyPrefix: 'n:' });
    const [seconds] = await admin.time();
    const told = Number(await store.run(parseScript('time', lua), [], []));
    expect(Math.abs(told / 1e6 - Number(seconds))).toBeLessThan(5);
    await admin.set('clock', '1234567890123456');
    expect(await store.run(parseScript('time', lua, { clock: { key: 'clock' } }), [], [])).toBe('1234567890123456');
    await store.close();
    admin.disconnect();
    await server.stop();
  });
});
