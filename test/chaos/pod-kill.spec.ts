import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { contentOf, postCompletion } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { CALLER, ROLLED_MODEL, RollingFleet } from '../support/rolling-fleet.js';
import type { Visit } from '../support/rolling-traffic.js';
import { signalTwice } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const CALLS = sized(12, 60);
/** Of the visits' lock. */
const LEASE_MS = 5_000;
/** A dead pod's places are promised within 10 s; a machine that runs other things beside may be late. */
const BACK_MS = sized(20_000, 10_000);
/** How long a client may be left without a word about a pod that is dead. */
const TOLD_MS = 5_000;
const TEXT = Array.from({ length: 40 }, (_, at) => `word-${String(at)}`).join(' ');
const HEADERS = { authorization: `Bearer ${CALLER}`, 'cache-control': 'no-store' };

/** How a call came to its end for its client. */
interface Seen {
  readonly status: number;
  readonly text: string;
  readonly isBroken: boolean;
}

describe('a pod behind HAProxy that does not go as it should', () => {
  let fleet: RollingFleet;
  beforeAll(async () => {
    const environment = { SHUTDOWN_GRACE_MS: '60000', VISIT_LEASE_MS: String(LEASE_MS) };
    fleet = await RollingFleet.start({ tokensPerSecond: 30, environment });
  });
  afterAll(() => fleet.close());

  const ask = (isStream: boolean): Promise<Seen> => {
    const body = { model: ROLLED_MODEL, stream: isStream, messages: [{ role: 'user', content: `echo:${TEXT}` }] };
    return postCompletion(fleet.url, body, HEADERS).then(read, () => ({ status: 0, text: '', isBroken: true }));
  };
  const askAll = (): { streams: Promise<Seen>[]; whole: Promise<Seen>[] } => ({
    streams: Array.from({ length: CALLS }, () => ask(true)),
    whole: Array.from({ length: CALLS }, () => ask(false)),
  });
  const underWay = (count: number): Promise<void> =>
    eventually(async () => (await fleet.judge.stats()).inFlight >= count);
  const visit = async (): Promise<Visit> => {
    const response = await fetch(`${fleet.url}/v1/visits/room`, { method: 'POST', headers: HEADERS });
    return (await response.json()) as Visit;
  };
  const isAtRest = async (): Promise<boolean> => {
    const { locks, ...amounts } = await fleet.leftWork();
    return locks.length === 0 && Object.values(amounts).every((amount) => amount === 0);
  };

  it('killed, or told twice: its clients learn it at once, the others nothing, and its lock is back in time', async () => {
    const { streams, whole } = askAll();
    const visitors = Array.from({ length: 6 }, () => visit());
    const visited = Promise.allSettled(visitors);
    await underWay(1.5 * CALLS);
    const [killed, hurried] = [fleet.retireOldest(), fleet.retireOldest()];
    await signalTwice(hurried, 'SIGTERM');
    const killedAt = performance.now();
    await killed.kill();
    expect(await hurried.ended).toMatchObject({ code: 143, signal: null });
    const told = Promise.all([...streams, ...whole]);
    const seen = await Promise.race([told, pass(TOLD_MS + 4_000, [], { ref: false })]);
    expect(seen).toHaveLength(2 * CALLS);

    // Whoever was with them sees a broken connection or a 502, never a short answer that looks whole.
    const lost = seen.filter(({ status, isBroken }) => status !== 200 || isBroken);
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThan(2 * CALLS);
    expect(lost.filter(({ status, isBroken }) => !isBroken && status !== 502)).toEqual([]);
    expect(seen.filter(({ status, isBroken, text }) => status === 200 && !isBroken && text !== TEXT)).toEqual([]);

    // From now on nobody notices: where no connection comes about, another pod is tried.
    expect(
      (await Promise.all(Array.from({ length: CALLS }, () => ask(true)))).filter(({ text }) => text !== TEXT),
    ).toEqual([]);
    const freed = await Promise.race([visit(), pass(LEASE_MS + BACK_MS, undefined, { ref: false })]);
    expect(freed).toMatchObject({ room: 'room' });
    const lockBackMs = performance.now() - killedAt;
    await visited;
    for (const { url } of [killed, hurried]) await fleet.balancer.remove(url);
    recordFigures('pod-kill', { calls: 2 * CALLS, lost: lost.length, lockBackMs: Math.round(lockBackMs) });
  });

  it('out of grace: streams end with an error frame and JSON with 503, both whole on the wire; it ends with 0', async () => {
    const pod = await fleet.add({ SHUTDOWN_GRACE_MS: '300' });
    const { streams, whole } = askAll();
    await underWay(1.5 * CALLS);
    pod.process.kill('SIGTERM');
    expect(await pod.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    const seen = await Promise.all([...streams, ...whole]);
    expect(seen.filter(({ isBroken }) => isBroken)).toEqual([]);
    const cut = seen.filter(({ text }) => text !== TEXT);
    expect(cut.length).toBeGreaterThan(0);
    expect(cut.filter(({ text }) => !text.includes('"code":"draining"'))).toEqual([]);
    await fleet.balancer.remove(pod.url);
  });

  it('a client that leaves ends its call at the provider, also behind the balancer', async () => {
    const before = (await fleet.judge.stats()).abortedByClient;
    const leaving = new AbortController();
    const calls = [true, false].map((stream) => {
      const body = { model: ROLLED_MODEL, stream, messages: [{ role: 'user', content: 'words:500' }] };
      return postCompletion(fleet.url, body, HEADERS, leaving.signal).then((response) => response.text());
    });
    const ended = Promise.allSettled(calls);
    await underWay(2);
    leaving.abort();
    await ended;
    await eventually(async () => (await fleet.judge.stats()).abortedByClient === before + 2);
  });

  it('and of none of them anything is left', async () => {
    await eventually(isAtRest, BACK_MS);
    expect(await fleet.endlessKeys()).toEqual([]);
  });
});

async function read(response: Response): Promise<Seen> {
  const { status } = response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  let raw = '';
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) raw += piece;
  } catch {
    return { status, text: raw, isBroken: true };
  }
  if (isStream) return { status, text: raw.endsWith('data: [DONE]\n\n') ? contentOf(raw) : raw, isBroken: false };
  return { status, text: status === 200 ? saidIn(raw) : raw, isBroken: false };
}

function saidIn(completion: string): string {
  const { choices } = JSON.parse(completion) as { choices: readonly { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}
