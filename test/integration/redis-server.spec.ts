import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { startRedisServer } from '../support/redis-server.js';

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${command}\r\n`);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return reply.toString();
}

describe('startRedisServer()', () => {
  it('answers, also more than one at a time, and leaves no process, port or folder', async () => {
    const [first, second] = await Promise.all([startRedisServer(), startRedisServer()]);
    expect(await ask(first.port, 'PING')).toBe('+PONG\r\n');
    expect(await ask(second.port, 'PING')).toBe('+PONG\r\n');
    expect(second.port).not.toBe(first.port);

    for (const server of [first, second]) {
      await server.stop();
      await server.stop();
      expect(existsSync(server.folder)).toBe(false);
      expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
      await expect(ask(server.port, 'PING')).rejects.toThrow('ECONNREFUSED');
    }
  });

  it('keeps nothing between two servers', async () => {
    const first = await startRedisServer();
    expect(await ask(first.port, 'SET k v')).toBe('+OK\r\n');
    await first.stop();
    const second = await startRedisServer();
    expect(await ask(second.port, 'DBSIZE')).toBe(':0\r\n');
    await second.stop();
  });

  it('says what the server said when it does not start', async () => {
    await expect(startRedisServer(['--no-such-option', 'x'])).rejects.toThrow('FATAL CONFIG FILE ERROR');
  });
});
