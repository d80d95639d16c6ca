import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Drain, type DrainResult } from '../../../src/http/index.js';
import { OpenRequest } from '../../../src/http/open-request.js';
import { onShutdownSignals } from '../../../src/shutdown-signals.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const OPTIONS = { drainDelayMs: 5_000, shutdownGraceMs: 30_000, flushMs: 2_000 };

function openRequest(): OpenRequest {
  return new OpenRequest({ complete: true }, { headersSent: false });
}

function admitted(drain: Drain): OpenRequest {
  const request = openRequest();
  drain.admit(request);
  return request;
}

function settled(run: Promise<DrainResult>): { result?: DrainResult } {
  const box: { result?: DrainResult } = {};
  void run.then((result) => (box.result = result));
  return box;
}

describe('Drain.run()', () => {
  it('goes serving, draining, refusing, drained', async () => {
    const drain = new Drain(OPTIONS);
    const request = admitted(drain);
    expect(drain.state).toBe('serving');
    const done = settled(drain.run());
    expect(drain.state).toBe('draining');
    await jest.advanceTimersByTimeAsync(4_999);
    expect(drain.state).toBe('draining');
    admitted(drain).end('complete');
    await jest.advanceTimersByTimeAsync(1);
    expect(drain.state).toBe('refusing');
    expect(() => admitted(drain)).toThrow(expect.objectContaining({ code: 'draining' }));
    request.end('complete');
    await jest.advanceTimersByTimeAsync(0);
    expect([drain.state, done.result]).toEqual(['drained', { aborted: 0 }]);
    expect(() => admitted(drain)).toThrow(expect.objectContaining({ code: 'draining' }));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('counts the grace from its start, aborts at its end, and waits for the last bytes', async () => {
    const drain = new Drain(OPTIONS);
    const early = admitted(drain);
    const run = drain.run();
    const done = settled(run);
    const late = admitted(drain);
    await jest.advanceTimersByTimeAsync(29_999);
    expect(late.signal.aborted).toBe(false);
    early.end('complete');
    await jest.advanceTimersByTimeAsync(1);
    expect(late.signal.reason).toMatchObject({ name: 'ApiError', code: 'draining' });
    expect(early.signal.aborted).toBe(false);
    expect(done.result).toBeUndefined();
    late.end('complete');
    await jest.advanceTimersByTimeAsync(0);
    expect(done.result).toEqual({ aborted: 1 });
    expect(drain.run()).toBe(run);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('gives up on what does not stop', async () => {
    const drain = new Drain({ ...OPTIONS, drainDelayMs: 0 });
    admitted(drain);
    const done = settled(drain.run());
    await jest.advanceTimersByTimeAsync(31_999);
    expect(done.result).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect([done.result, drain.openRequests]).toEqual([{ aborted: 1 }, 1]);
  });

  it('is done within the delay’s end when the delay outlasts the grace', async () => {
    const drain = new Drain({ drainDelayMs: 50, shutdownGraceMs: 10, flushMs: 10 });
    const request = admitted(drain);
    const done = settled(drain.run());
    await jest.advanceTimersByTimeAsync(50);
    await jest.advanceTimersByTimeAsync(0);
    expect(request.signal.aborted).toBe(true);
    request.end('client gone');
    await jest.advanceTimersByTimeAsync(0);
    expect(done.result).toEqual({ aborted: 1 });
  });
});

describe('OpenRequest', () => {
  it('aborts once, with the first reason, and not after its end', () => {
    const gone = openRequest();
    gone.end('client gone');
    expect(gone.signal.reason).toMatchObject({ name: 'ClientGoneError' });

    const complete = openRequest();
    complete.end('complete');
    complete.end('client gone');
    complete.abort(new Error('late'));
    expect(complete.signal.aborted).toBe(false);
  });

  it('tells the one listener beside its signal why, also when it comes too late', () => {
    const request = openRequest();
    const reasons: unknown[] = [];
    request.onAbort = (reason) => reasons.push(reason);
    const first = new Error('first');
    request.abort(first);
    request.abort(new Error('second'));
    request.onAbort = (reason) => reasons.push(reason);
    expect(reasons).toEqual([first, first]);
    expect(request.signal.reason).toBe(first);
    request.onAbort = undefined;
  });

  it('calls back once, also when it is over already', () => {
    const request = openRequest();
    const calls: string[] = [];
    request.onOver(() => calls.push('before'));
    request.end('complete');
    request.end('complete');
    request.onOver(() => calls.push('after'));
    expect(calls).toEqual(['before', 'after']);
  });
});

describe('onShutdownSignals()', () => {
  class Host extends EventEmitter {
    readonly exits: number[] = [];
    exit(code: number): void {
      this.exits.push(code);
    }
  }

  it('runs once and exits with 0', async () => {
    const host = new Host();
    let runs = 0;
    onShutdownSignals(() => {
      runs += 1;
      return Promise.resolve();
    }, host);
    host.emit('SIGTERM');
    await jest.advanceTimersByTimeAsync(0);
    expect([runs, host.exits]).toEqual([1, [0]]);
  });

  it('exits with 1 when the shutdown fails', async () => {
    const host = new Host();
    onShutdownSignals(() => Promise.reject(new Error('no')), host);
    host.emit('SIGINT');
    await jest.advanceTimersByTimeAsync(0);
    expect(host.exits).toEqual([1]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('exits at once on a second %s', (signal, code) => {
    const host = new Host();
    onShutdownSignals(() => new Promise(() => undefined), host);
    host.emit('SIGTERM');
    jest.advanceTimersByTime(500);
    host.emit(signal);
    expect(host.exits).toEqual([code]);
  });

  it('takes the echo of one Ctrl-C through npm for one signal', () => {
    const host = new Host();
    onShutdownSignals(() => new Promise(() => undefined), host);
    host.emit('SIGINT');
    jest.advanceTimersByTime(20);
    host.emit('SIGINT');
    expect(host.exits).toEqual([]);
  });

  it('takes its listeners off', () => {
    const host = new Host();
    const off = onShutdownSignals(() => Promise.resolve(), host);
    off();
    expect(host.eventNames()).toEqual([]);
  });
});
