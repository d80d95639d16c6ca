import { afterEach, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { eventually } from '../support/eventually.js';
import { OpenWork } from '../support/open-work.js';
import { RawConnection } from '../support/raw-http.js';

let held: OpenWork;
afterEach(() => held.close());

describe('clientSignal()', () => {
  it.each(['/json', '/stream'])('aborts when the client closes during %s', async (path) => {
    held = await OpenWork.start();
    const connection = await held.open(path);
    connection.destroy();
    await eventually(() => held.signals[0]?.aborted === true);
    expect(held.signals[0]?.reason).toMatchObject({ name: 'ClientGoneError', code: 'client_gone' });
    expect(held.server.reported).toEqual([]);
  });

  it('aborts when the client only shuts its writing side', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/json');
    connection.socket.end();
    await eventually(() => held.signals[0]?.aborted === true);
  });

  it('aborts a pipelined request that waits behind another', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/stubborn');
    connection.write('GET /json HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => held.signals.length === 2);
    connection.destroy();
    await eventually(() => held.signals.every((signal) => signal.aborted));
    expect(held.server.drain.openRequests).toBe(0);
  });

  it('never aborts after a complete answer', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/json');
    held.finish();
    await connection.until(/finished/);
    connection.destroy();
    await eventually(() => held.server.drain.openRequests === 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(held.signals[0]?.aborted).toBe(false);
  });

  it('leaves no listener on a connection that is kept alive', async () => {
    held = await OpenWork.start();
    let listeners: number[] = [];
    held.server.app.getHttpServer().on('request', (request: FastifyRequest['raw']) => {
      listeners = [...listeners, request.socket.listenerCount('close')];
    });
    const connection = await RawConnection.open(held.server.port);
    for (let n = 1; n <= 20; n += 1) {
      connection.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => (connection.received.match(/HTTP\/1\.1 200/g) ?? []).length === n);
    }
    expect(listeners).toHaveLength(20);
    expect(new Set(listeners.slice(1)).size).toBe(1);
    connection.destroy();
  });

  it('stands many pipelined requests without a warning', async () => {
    held = await OpenWork.start();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const connection = await RawConnection.open(held.server.port);
    connection.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
    await eventually(() => (connection.received.match(/quick":true/g) ?? []).length === 50);
    connection.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
