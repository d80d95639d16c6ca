import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createLogger } from '../../../src/observability/index.js';
import { startAuthApp } from '../../support/auth-app.js';
import { callerWithKey } from '../../support/callers.js';

describe('configureAuth()', () => {
  let app: NestFastifyApplication;
  let port: number;

  beforeAll(async () => {
    app = await startAuthApp([callerWithKey('right-key')], createLogger({ level: 'silent', secrets: [] }));
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });
  afterAll(() => app.close());

  /** Sends a head that promises a body and not one byte of it; gives back the status line. */
  async function announceBody(path: string, ...headers: string[]): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...headers, '', ''].join('\r\n'),
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return head.toString('latin1').split('\r\n', 1)[0] ?? '';
  }

  it('refuses a stranger before the first byte of the body has come', async () => {
    expect(await announceBody('/echo', 'Content-Length: 33000000')).toBe('HTTP/1.1 401 Unauthorized');
    expect(await announceBody('/echo', 'Transfer-Encoding: chunked')).toBe('HTTP/1.1 401 Unauthorized');
    expect(await announceBody('/no-such-route', 'Content-Length: 33000000')).toBe('HTTP/1.1 401 Unauthorized');
  });

  it('refuses a request with two keys, one of which is right', async () => {
    const both = ['Authorization: Bearer right-key', 'Authorization: Bearer other-key', 'Content-Length: 2'];
    expect(await announceBody('/echo', ...both)).toBe('HTTP/1.1 401 Unauthorized');
  });

  it('passes a known caller on, body and all', async () => {
    const response = await fetch(`http://127.0.0.1:${String(port)}/echo`, {
      method: 'POST',
      headers: { authorization: 'bearer right-key', 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'x'.repeat(1_000_000) }),
    });
    expect(await response.json()).toEqual({ caller: 'acme' });
  });
});
