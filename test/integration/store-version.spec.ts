import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { RedisStore } from '../../src/store/index.js';
import { checkVersion } from '../../src/store/server.version.js';
import { COUNT } from '../support/counter-script.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

/** In front of a server whose version is told as another one. */
class VersionProxy {
  major = '7';
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((client) => {
      const upstream = connect(target.port, target.host);
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
      client.on('data', (data) => upstream.write(data)).on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
      upstream.on('data', (data) =>
        client.write(data.toString('latin1').replace(/(redis_version:)\d/, `$1${this.major}`), 'latin1'),
      );
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('it listens to no port');
    return address.port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let server: RedisServer;
let proxy: VersionProxy;
let port = 0;
beforeAll(async () => {
  server = await startRedisServer();
  proxy = new VersionProxy(server);
  port = await proxy.listen();
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

const open = (): RedisStore =>
  new RedisStore({ kind: 'standalone', host: '127.0.0.1', port, db: 0, tls: false, keyPrefix: 't:' });

describe('the version of the server', () => {
  it.each(['5', '7'])('may be %s', async (major) => {
    proxy.major = major;
    const store = open();
    expect(await store.run(COUNT, [`t:{${major}}`], [1])).toBe(1);
    await store.close();
  });

  it('is refused where scripts may not write after they have read the clock', async () => {
    proxy.major = '4';
    const store = open();
    await expect(store.connected()).rejects.toMatchObject({
      ...{ name: 'StoreConfigurationError', reason: 'old_server', isRetryable: false },
      message: expect.stringMatching(/^redis is version 4\.[\d.]+: it must be 5 or newer/),
    });
    await store.close();
  });

  it.each([[new Map()], [new Map([['redis_version', 'unknown']])], [new Map([['redis_version', '10.0.1']])]])(
    'is not refused where it is newer or not told: %p',
    (info) => {
      expect(() => {
        checkVersion(info);
      }).not.toThrow();
    },
  );
});
