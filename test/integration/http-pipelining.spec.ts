import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { OpenWork } from '../support/open-work.js';

const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${body}`;

let held: OpenWork;
afterEach(() => held.close());

describe('what can not be a request, behind one that waits for its answer', () => {
  const FAULTS: [name: string, fault: string, status: number][] = [
    ['garbage', 'nonsense\r\n\r\n', 400],
    ['garbage that goes on', 'nonsense\r\n\r\n'.repeat(10_000), 400],
    ['too large headers', `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a body in broken chunks', post('/quick', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'), 400],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ];

  it.each(FAULTS)('is answered after it, and the connection ends: %s', async (_name, fault, status) => {
    held = await OpenWork.start();
    const connection = await held.open('/json');
    connection.write(fault);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(connection.received).toBe('');
    held.finish();
    const text = await connection.closed();
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))).toEqual([200, status]);
    expect(text).toContain('{"finished":true}');
    expect(held.server.reported).toEqual([]);
  });

  it.each(FAULTS)('does not keep its work from learning that the client left: %s', async (...[, fault]) => {
    held = await OpenWork.start();
    for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const connection = await held.open('/json');
      connection.write(fault);
      await new Promise((resolve) => setTimeout(resolve, 50));
      connection.socket[leave]();
      await eventually(() => held.signals.at(-1)?.aborted === true);
    }
    await eventually(() => held.server.drain.openRequests === 0);
  });

  it('does not keep its work from learning that the client left in the middle of the next request', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/json');
    connection.write(post('/quick', 'Content-Length: 100\r\n\r\n{"a":'));
    await eventually(() => held.server.drain.openRequests === 2);
    connection.socket.end();
    await eventually(() => held.signals[0]?.aborted === true);
    expect(await connection.closed()).toBe('');
  });

  it('waits for a stream’s end', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/stream');
    await connection.until(/first/);
    connection.write('nonsense\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    held.finish();
    expect(await connection.closed()).toMatch(/data: \[DONE\]\n\n\r\n0\r\n\r\nHTTP\/1\.1 400 /);
  });
});
