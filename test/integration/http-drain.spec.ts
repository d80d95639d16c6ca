import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { OpenWork } from '../support/open-work.js';
import { exchange, parseAnswer, RawConnection } from '../support/raw-http.js';

let held: OpenWork;
afterEach(() => held.close());

describe('Drain', () => {
  it('takes requests while draining, refuses new ones after the delay, and lets the open one finish', async () => {
    held = await OpenWork.start({ drainDelayMs: 1_500 });
    const stream = await held.open('/stream');
    const drained = held.server.drain.run();

    expect(held.server.drain.state).toBe('draining');
    const taken = await fetch(`${held.server.url}/quick`);
    expect([taken.status, taken.headers.get('connection')]).toEqual([200, 'close']);

    await eventually(() => held.server.drain.state === 'refusing');
    const refused = await fetch(`${held.server.url}/quick`);
    expect(refused.status).toBe(503);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      connection: 'close',
      'retry-after': '1',
      'x-should-retry': 'true',
    });
    expect(await refused.json()).toMatchObject({ error: { code: 'draining', type: 'overloaded_error' } });
    const probe = await fetch(`${held.server.url}/health`);
    expect([probe.status, probe.headers.get('connection')]).toEqual([200, 'close']);

    expect(held.signals[0]?.aborted).toBe(false);
    held.finish();
    expect(await drained).toEqual({ aborted: 0 });
    expect(await stream.until(/\[DONE\]/)).toContain('data: first');
    expect(held.server.drain.state).toBe('drained');
    stream.destroy();
  });

  it('ends what is open after the grace with an error frame, never silently', async () => {
    held = await OpenWork.start({ shutdownGraceMs: 50 });
    const stream = await held.open('/stream');
    await stream.until(/first/);
    const json = await held.open('/json');
    expect(await held.server.drain.run()).toEqual({ aborted: 2 });
    expect(await stream.until(/0\r\n\r\n$/)).toMatch(
      /data: \{"error":\{"message":"the server is shutting down.*"code":"draining"\}\}/,
    );
    expect(parseAnswer(await json.closed())).toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(held.server.drain.openRequests).toBe(0);
    expect(held.server.reported).toEqual([]);
    stream.destroy();
  });

  it('says what is left of the grace once the requests are over', async () => {
    held = await OpenWork.start({ shutdownGraceMs: 60_000 });
    const stream = await held.open('/stream');
    const left: number[] = [];
    const drained = held.server.drain.run({ workOver: (graceLeftMs) => left.push(graceLeftMs) });
    expect(left).toEqual([]);
    held.finish();
    await drained;
    expect(left).toHaveLength(1);
    expect(left[0]).toBeGreaterThan(30_000);
    expect(left[0]).toBeLessThan(60_000);
    stream.destroy();
  });

  it('says that nothing is left of it before the late requests are aborted', async () => {
    held = await OpenWork.start({ shutdownGraceMs: 50 });
    const stream = await held.open('/stream');
    const told: unknown[] = [];
    await held.server.drain.run({ workOver: (graceLeftMs) => told.push([graceLeftMs, held.signals[0]?.aborted]) });
    expect(told).toEqual([[0, false]]);
    stream.destroy();
  });

  it('waits for a stubborn request no longer than grace and flush', async () => {
    held = await OpenWork.start({ shutdownGraceMs: 20, flushMs: 20 });
    const stubborn = await held.open('/stubborn');
    expect(await held.server.drain.run()).toEqual({ aborted: 1 });
    expect(held.signals[0]?.reason).toMatchObject({ code: 'draining' });
    await held.server.app.close();
    await stubborn.closed();
  });

  it('refuses before a body is read, and the client still gets the answer', async () => {
    held = await OpenWork.start();
    await held.server.drain.run();
    const body = JSON.stringify('x'.repeat(8 * 1024 * 1024));
    const response = await fetch(`${held.server.url}/quick`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'draining' } });
  });

  it.each([
    ['a body with a length', 'Content-Length: 100\r\n\r\n{"a":'],
    ['a body in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'],
    ['nothing of a body yet', 'Content-Length: 100\r\n\r\n'],
  ])('tells whoever is still sending after the grace, and runs no handler: %s', async (_name, rest) => {
    held = await OpenWork.start({ shutdownGraceMs: 50 });
    const connection = await RawConnection.open(held.server.port);
    connection.write(`POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${rest}`);
    await eventually(() => held.server.drain.openRequests === 1);
    const drained = held.server.drain.run();
    const answer = parseAnswer(await connection.until(/"code":"draining"\}\}/));
    expect(answer).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } });
    connection.write('x'.repeat(95));
    connection.destroy();
    expect(await drained).toEqual({ aborted: 1 });
    expect([held.signals, held.server.reported]).toEqual([[], []]);
  });

  it('refuses unknown paths too, and is done at once when nothing is open', async () => {
    held = await OpenWork.start();
    expect(await held.server.drain.run()).toEqual({ aborted: 0 });
    const answer = await exchange(held.server.port, 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([answer.status, answer.headers['connection']]).toEqual([503, 'close']);
  });

  it('forgets requests whose client left', async () => {
    held = await OpenWork.start();
    const connection = await held.open('/stubborn');
    expect(held.server.drain.openRequests).toBe(1);
    connection.destroy();
    await eventually(() => held.server.drain.openRequests === 0);
    expect(await held.server.drain.run()).toEqual({ aborted: 0 });
  });
});
