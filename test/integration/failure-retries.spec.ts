import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { modelAcross } from '../support/config-file.js';
import { inTurn, RouteRig } from '../support/route-rig.js';
import { completion, json, type Script } from '../support/scripted-upstream.js';

const ok = json(200, completion());
const failing = json(500, {});
const limited = (headers: Record<string, string> = {}): Script =>
  json(429, { error: { message: 'slow down' } }, headers);
/** HTTP dates have whole seconds only. */
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString();

/** Notes when it is called, Unix ms. */
function timed(script: Script): { readonly times: number[]; readonly script: Script } {
  const times: number[] = [];
  return {
    times,
    script: (request, response) => {
      times.push(Date.now());
      return script(request, response);
    },
  };
}

describe('what is tried again, and what is not', () => {
  let rig: RouteRig;
  afterEach(() => rig.close());

  /** One model at these providers. */
  const start = async (providers: readonly string[], environment: Record<string, string> = {}): Promise<void> => {
    rig = await RouteRig.start({ providers, models: [modelAcross(providers, 'm')], environment });
  };

  describe('row 1: what no second try here can change', () => {
    const STATUSES = [301, 302, 307, 404, 405, 406, 410, 418, 424, 425, 451, 499, 501];

    it('is asked for once, told as 502, and puts nobody out: another caller’s request may be another matter', async () => {
      await start(['a']);
      for (const status of STATUSES) {
        rig.play({ a: json(status, { error: { message: 'no' } }, { location: '/elsewhere', 'retry-after': '1' }) });
        const { status: told, body, headers } = await rig.ask({ stream: status % 2 === 0 });
        expect({ status, told, body }).toMatchObject({ told: 502, body: { error: { code: 'upstream_error' } } });
        expect(headers.get('x-should-retry')).toBe('false');
        expect(headers.get('x-coordinator-attempts')).toBe('1');
      }
      expect(rig.calls()).toEqual({ a: STATUSES.length });
      rig.play({ a: ok });
      expect((await rig.ask()).status).toBe(200);
    });

    it('is answered by the next one at once', async () => {
      await start(['a', 'b']);
      for (const status of STATUSES) {
        rig.play({ a: json(status, {}) });
        const { status: told, headers } = await rig.ask();
        expect([told, headers.get('x-coordinator-provider')]).toEqual([200, 'b']);
        expect(headers.get('x-coordinator-attempts')).toBe('2');
      }
      expect(rig.calls()).toEqual({ a: STATUSES.length, b: STATUSES.length });
    });
  });

  describe('row 2: a used-up quota is not tried again:', () => {
    const usedUp = json(429, { error: { message: 'no', type: 'insufficient_quota', code: 'insufficient_quota' } });

    it('the next key answers, and this one is left alone from then on', async () => {
      await start(['a', 'b']);
      rig.play({ a: usedUp });
      const first = await rig.ask();
      expect(first.status).toBe(200);
      expect(first.headers.get('x-coordinator-attempts')).toBe('2');
      expect(rig.calls()).toEqual({ a: 1, b: 1 });
      const second = await rig.ask();
      expect(second.headers.get('x-coordinator-attempts')).toBe('1');
      expect(rig.calls()).toEqual({ a: 1, b: 2 });
    });

    it('where there is no other key, the caller is told so, and to stay away', async () => {
      await start(['a']);
      rig.play({ a: usedUp });
      for (let request = 0; request < 3; request += 1) {
        const { status, body, headers } = await rig.ask();
        expect({ status, body }).toMatchObject({ status: 429, body: { error: { code: 'insufficient_quota' } } });
        expect(headers.get('x-should-retry')).toBe('false');
      }
      expect(rig.calls()).toEqual({ a: 1 });
    });
  });

  it.each([
    ['row 4: in seconds', 'retry-after', '1', 1_000],
    ['row 5: in milliseconds', 'retry-after-ms', '700', 700],
  ])('waits as long as Retry-After asks, %s, and then has its answer', async (_, name, value, leastMs) => {
    await start(['a']);
    const { times, script } = timed(inTurn(limited({ [name]: value }), ok));
    rig.play({ a: script });
    const answer = await rig.ask();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-coordinator-attempts')).toBe('2');
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(leastMs);
  });

  it('row 4: fifty calls that were told the same moment are all answered, and one of them finds out for all', async () => {
    await start(['a']);
    let calls = 0;
    let probes = 0;
    const together = new EventEmitter();
    const all = once(together, 'all');
    rig.play({
      a: async (request, response) => {
        calls += 1;
        if (calls === 50) together.emit('all');
        if (calls <= 50) {
          await all;
          return limited({ 'retry-after': '1' })(request, response);
        }
        if (calls === 51) {
          await sleep(300);
          probes = calls - 50;
        }
        return ok(request, response);
      },
    });
    const answers = await Promise.all(Array.from({ length: 50 }, () => rig.ask()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect({ calls, probes }).toEqual({ calls: 100, probes: 1 });
  });

  it('waits until the moment that Retry-After names, row 5: as a date', async () => {
    await start(['a']);
    const date = inSeconds(2);
    const { times, script } = timed(inTurn(limited({ 'retry-after': date }), ok));
    rig.play({ a: script });
    expect((await rig.ask()).status).toBe(200);
    expect(times[1]).toBeGreaterThanOrEqual(Date.parse(date));
  });

  it.each([
    ['3600 seconds', (): string => '3600'],
    ['a date in an hour', (): string => inSeconds(3_600)],
  ])('row 5: does not wait for what is beyond its deadline, %s, but falls back at once', async (_, value) => {
    await start(['a', 'b']);
    rig.play({ a: limited({ 'retry-after': value() }) });
    const answer = await rig.ask({}, { 'x-coordinator-timeout-ms': '5000' });
    expect([answer.status, answer.headers.get('x-coordinator-provider')]).toEqual([200, 'b']);
    expect(rig.calls()).toEqual({ a: 1, b: 1 });
  });

  it('row 5: tells the caller of a wait that is beyond the deadline where nobody else can answer', async () => {
    await start(['a']);
    rig.play({ a: limited({ 'retry-after': '3600' }) });
    const answer = await rig.ask({}, { 'x-coordinator-timeout-ms': '5000' });
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
    expect(answer.headers.get('retry-after')).toBe('3600');
    expect(rig.calls()).toEqual({ a: 1 });
  });

  it('tells the caller of no wait beyond an hour', async () => {
    await start(['a']);
    rig.play({ a: limited({ 'retry-after': '31536000' }) });
    const answer = await rig.ask({}, { 'x-coordinator-timeout-ms': '5000' });
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('retry-after-ms')]).toEqual([
      ...[429, '3600', '3600000'],
    ]);
  });

  it('row 8: passes along an exhausted chain once: as many calls as links and tries', async () => {
    const models = [
      modelAcross(['a', 'b'], 'm', { fallbacks: ['n'] }),
      // A ring: it ends all the same.
      modelAcross(['c'], 'n', { fallbacks: ['m'] }),
    ];
    rig = await RouteRig.start({ providers: ['a', 'b', 'c'], models });
    rig.play({ a: failing, b: failing, c: failing });
    const { status, headers, body } = await rig.ask();
    expect({ status, body }).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } });
    expect(headers.get('x-coordinator-attempts')).toBe('6');
    expect(headers.get('x-should-retry')).toBe('false');
    expect(rig.calls()).toEqual({ a: 2, b: 2, c: 2 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(rig.calls()).toEqual({ a: 2, b: 2, c: 2 });
  });

  it('row 8: spends no more attempts than the configuration allows', async () => {
    const providers = ['a', 'b', 'c', 'd'];
    rig = await RouteRig.start({
      providers,
      models: [modelAcross(providers, 'm')],
      file: { attempts: { perRequest: 3, perDeployment: 1, firstBackoffMs: '1ms' } },
    });
    rig.play({ a: failing, b: failing, c: failing });
    expect((await rig.ask()).status).toBe(502);
    expect(rig.calls()).toEqual({ a: 1, b: 1, c: 1, d: 0 });
  });

  it.each([400, 413, 415, 422])('row 20: a request that is refused with %d is sent to nobody else', async (status) => {
    const models = [modelAcross(['a', 'b'], 'm', { fallbacks: ['n'] }), modelAcross(['c'], 'n')];
    rig = await RouteRig.start({ providers: ['a', 'b', 'c'], models });
    rig.play({ a: json(status, { error: { message: 'wrong' } }) });
    expect((await rig.ask()).status).toBe(status);
    expect((await rig.ask({ stream: true })).status).toBe(status);
    expect(rig.calls()).toEqual({ a: 2, b: 0, c: 0 });
  });

  it('tells the most meaningful of what went wrong', async () => {
    await start(['a', 'b', 'c']);
    rig.play({ a: json(401, {}), b: json(503, {}), c: json(500, {}) });
    expect(await rig.ask()).toMatchObject({ status: 503, body: { error: { code: 'overloaded' } } });
  });
});
