import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { eventually } from '../support/eventually.js';
import { DEADLINE_MS, FailoverRun, LIMIT, LOCK, LOCK_HASH, WINDOW_MS } from '../support/failover-run.js';
import { answerFaults, excused, type FailoverPolicy, quotaFaults, repeatFaults } from '../support/failover-verdict.js';
import { type FailoverName, failoversOf } from '../support/failovers.js';
import { recordFigures } from '../support/figures.js';
import type { RedisKind } from '../support/lock-grounds.js';
import { COUNTED_KEYS } from '../support/lock-loads.js';
import { judge } from '../support/lock-verdict.js';
import { logFaults } from '../support/log-verdict.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { startCluster, startSentinel, startStandalone } from '../support/redis-kinds.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 900_000));

const ROUNDS = sized(1, 2);
const EVERY: readonly FailoverName[] = ['killed', 'frozen', 'planned', 'restarted'];
/** Every write is on its way to the disk at once. */
const WORDS = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
const LAG_MS = 250;
/** Until what was answered is in the ledger, ms. */
const BOOKED_MS = 1_000;

interface Ground {
  readonly name: string;
  readonly start: typeof startSentinel;
  /** TLS only, certificates of both sides, and the documented users, of sentinels too. */
  readonly isClosed: boolean;
  readonly ways: readonly FailoverName[];
  readonly replicas: number;
  readonly inStep: number;
}

/** Where turns wait for a replica none may be lost; a cluster has one per master, and none after a failover. */
const SENTINEL = { start: startSentinel, replicas: 1, inStep: sized(1, 2) };
const CLUSTER = { start: startCluster, replicas: 0, inStep: 1 };
const CLOSED = { name: 'sentinel-closed', isClosed: true, ...SENTINEL };
const OPEN = { name: 'cluster', isClosed: false, ...CLUSTER };
const GROUNDS: readonly Ground[] = isFullProof
  ? [
      { name: 'sentinel', isClosed: false, ...SENTINEL, ways: EVERY },
      { ...CLOSED, ways: EVERY },
      { ...OPEN, ways: EVERY },
      { name: 'cluster-closed', isClosed: true, ...CLUSTER, ways: [...EVERY, 'moved'] },
      { name: 'cluster-moved', isClosed: false, ...CLUSTER, ways: ['moved'] },
      { name: 'standalone', isClosed: false, start: startStandalone, ways: ['restarted'], replicas: 0, inStep: 0 },
    ]
  : [
      { ...CLOSED, ways: ['killed'] },
      { ...OPEN, ways: ['moved', 'planned'] },
    ];

let guard: RedisServer;
let certificates: Certificates;
let redis: RedisKind | undefined;
let run: FailoverRun | undefined;

beforeAll(async () => {
  [guard, certificates] = await Promise.all([startRedisServer(), makeCertificates()]);
});
afterEach(async () => {
  await run?.kill();
  await redis?.stop();
  [run, redis] = [undefined, undefined];
});
afterAll(async () => {
  await guard.stop();
  await certificates.remove();
});

describe('pods, locks and clients on one Redis whose masters fail', () => {
  it.each(GROUNDS)('keep what they promise on $name', async ({ name, start, isClosed, ways, replicas, inStep }) => {
    redis = await start({ words: WORDS, ...(isClosed && { tls: certificates, isRestricted: true }) });
    const failovers = failoversOf(redis, LOCK_HASH, inStep);
    run = await FailoverRun.start(redis, guard, replicas);
    const { fleet, locks, counters, clients, model } = run;
    for (let round = 0; round < ROUNDS; round += 1) for (const way of ways) await run.survive(failovers[way]);
    const ends = await run.stop();

    const policy: FailoverPolicy = { deadlineMs: DEADLINE_MS, failures: run.failures, lagMs: LAG_MS };
    const most = (await fleet.books(model)).windows[0]?.requests.most ?? 0;
    const sent = replicas > 0 ? clients.sent : excused(clients.sent, policy);
    const logs = await Promise.all(run.paths.map(async (path) => ({ path, log: await clients.settledLog(path) })));
    expect({
      ends,
      answers: answerFaults([...run.calls, ...clients.calls], policy),
      quota: quotaFaults({ most, limit: LIMIT }, run.calls, policy),
      repeats: repeatFaults(clients.repeats, policy),
      logs: logs.flatMap(({ path, log }) => {
        const own = sent.filter((message) => message.path === path);
        return logFaults(log, own, replyTo, true);
      }),
      locks: judge(locks, { keepsData: run.failures.length === 0 }),
      guarded: await counters.findings(COUNTED_KEYS),
    }).toEqual({ ends: [], answers: [], quota: [], repeats: [], logs: [], locks: [], guarded: [] });
    expect(await counters.read(LOCK)).toBeGreaterThan(ways.length);
    expect(clients.repeats.length).toBeGreaterThan(0);
    const booked = await bookedOf(run);

    recordFigures(`failover-${name}`, {
      ...{ pods: fleet.pods.length, windowMs: WINDOW_MS, limit: LIMIT, most, replicas, gapMs: run.gaps },
      ...{ completions: statusesOf(run), turns: clients.sent.length, messages: logs.flatMap(({ log }) => log).length },
      ...{ repeats: clients.repeats.length, anew: clients.repeats.filter(({ isSame }) => !isSame).length, ...booked },
      ...{
        sections: locks.sections.length,
        refusedWrites: locks.sections.flatMap(({ end }) => end?.refused ?? 0).reduce((a, b) => a + b, 0),
      },
    });
  });
});

/** The simulator says back what it was asked to. */
function replyTo(content: string): string {
  return content.replace(/^echo:/, '');
}

/** What the provider billed is in the ledger, but for what was answered in a failure or just before; refused calls have no tokens. */
async function bookedOf({ fleet, calls, failures, model }: FailoverRun): Promise<Readonly<Record<string, number>>> {
  const atRisk = calls.filter(({ endedAt }) =>
    failures.some(({ from, until }) => endedAt > from - BOOKED_MS && endedAt < until),
  );
  const { replies, promptTokens } = (await fleet.books(model)).billed;
  const least = promptTokens - atRisk.length * Math.ceil(promptTokens / Math.max(1, replies));
  let bookedTokens = 0;
  await eventually(async () => {
    bookedTokens = (await fleet.usage('loaded')).periods.day.prompt_tokens;
    return bookedTokens >= least;
  });
  return { billedTokens: promptTokens, bookedTokens };
}

function statusesOf({ calls, clients }: FailoverRun): Readonly<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const { status, code } of [...calls, ...clients.calls]) {
    const end = `${String(status)} ${code}`.trim();
    statuses[end] = (statuses[end] ?? 0) + 1;
  }
  return statuses;
}
