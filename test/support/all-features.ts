import { type Lease, LockService, RedisLockStore } from '../../src/lock/index.js';
import type { RedisStore } from '../../src/store/index.js';
import { type Answer, readAnswer } from './completion-rig.js';
import { eventually } from './eventually.js';
import { MODEL, OTHER, QuotaRig } from './quota-rig.js';

/** It may do everything; its name is its key. */
const CALLER = 'all';
/** So few that some wait. */
const LIMITS = { rpm: 600, tpm: 600_000, concurrency: 3, windows: [{ windowMs: 1_000, requests: 6 }] };

/** This service, so configured that a caller meets everything that is kept on Redis. */
export function startAllFeatures(environment: Readonly<Record<string, string>>): Promise<QuotaRig> {
  return QuotaRig.start({
    models: { [MODEL]: { limits: LIMITS }, [OTHER]: { cacheTtlMs: 60_000 } },
    callers: {
      [CALLER]: {
        ...{ scopes: ['chat', 'admin'], limits: { rpm: 600 } },
        budget: { usdPerDay: 100, tokensPerMonth: 10_000_000, hard: true },
      },
    },
    environment,
  });
}

/** @returns what was refused, or not as it should be */
export async function useAllFeatures(rig: QuotaRig): Promise<readonly string[]> {
  return [...(await useCompletions(rig)), ...(await useReuse(rig)), ...(await useConversations(rig))];
}

async function useCompletions(rig: QuotaRig): Promise<readonly string[]> {
  const [body, caller] = [{ max_tokens: 20 }, CALLER];
  const many = await Promise.all(Array.from({ length: 9 }, () => rig.ask({ caller, body })));
  await rig.judge.script({ model: MODEL, status: 429, headers: { 'retry-after': '1' } });
  const paused = await rig.ask({ caller, body });
  const gone = rig.send({ caller, body, signal: AbortSignal.timeout(30) }).catch(() => undefined);
  await gone;
  const told = await Promise.all(
    ['/v1/usage', '/v1/usage/ledger', '/v1/status', '/v1/locks', '/v1/models'].map((path) => call(rig, 'GET', path)),
  );
  return wrong([...many, paused, ...told]);
}

async function useReuse(rig: QuotaRig): Promise<readonly string[]> {
  const same = (content: string, headers = {}): Promise<Answer> =>
    rig.ask({ model: OTHER, caller: CALLER, headers, body: { messages: [{ role: 'user', content }] } });
  const keyed = { 'idempotency-key': 'one' };
  const answers = await Promise.all([same('joined'), same('joined')]);
  answers.push(await same('joined'), await same('keyed', keyed), await same('keyed', keyed));
  const kinds = answers.map(({ headers }) => headers.get('x-coordinator-cache')).toSorted();
  return [...wrong(answers), ...(kinds.includes('hit') ? [] : [`no hit among ${kinds.join()}`])];
}

async function useConversations(rig: QuotaRig): Promise<readonly string[]> {
  const path = '/v1/conversations/c1';
  const answers: Answer[] = [];
  const one = async (method: string, rest: string, body?: object): Promise<Answer> => {
    const answer = await call(rig, method, `${path}${rest}`, body);
    answers.push(answer);
    return answer;
  };
  await one('PUT', '', { model: OTHER, system: 'Be brief.' });
  await one('POST', '/turns', { content: 'echo:one' });
  const events = await one('POST', '/turns', { content: 'echo:two', stream: true });
  const turn = /"id":"(turn_[^"]+)"/.exec(events.text)?.[1] ?? 'none';
  await one('POST', `/turns/${turn}/regenerate`);
  for (const rest of ['', `/turns/${turn}`, `/turns/${turn}/events`, '/messages', '/export', '/window'])
    await one('GET', rest);
  await one('PATCH', '', { title: 'Two' });
  await one('DELETE', '/messages');
  answers.push(await call(rig, 'GET', '/v1/conversations'));
  answers.push(await call(rig, 'POST', '/v1/chat', { user_id: 'u', message: 'echo:hi' }));
  await one('DELETE', '');
  return wrong(answers);
}

async function call({ coordinator }: QuotaRig, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${coordinator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${CALLER}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return readAnswer(response);
}

function wrong(answers: readonly Answer[]): readonly string[] {
  return answers.flatMap(({ status, text }) => (status < 300 ? [] : [`${String(status)} ${text}`]));
}

/** Takes, hands over, lists, lengthens and revokes locks of two processes. @returns the keys that were listed */
export async function useLocks(store: RedisStore): Promise<readonly string[]> {
  const [one, two] = [new LockService(new RedisLockStore(store)), new LockService(new RedisLockStore(store))];
  const first = await one.acquire('k', { leaseMs: 300 });
  const second: Promise<Lease> = two.acquire('k');
  await eventually(async () => (await one.inspect('k'))?.queued === 1);
  const listed = (await one.list()).map(({ key }) => key);
  await first.extend(5_000);
  await first.release();
  const next = await second;
  if ((await one.tryAcquire('k')) !== undefined) throw new Error('k is held twice');
  if ((await one.forceRelease('k')) !== 1) throw new Error('k was not held');
  await eventually(() => next.signal.aborted);
  await Promise.all([one.close(), two.close()]);
  return listed;
}
