/** What admission, the cache look-up and a lock cost a call that need not wait. */
import { turned } from '../bench-run.mjs';
import { messageOf, startOwn } from '../gateway/child.mjs';
import { median } from '../gateway/figures.mjs';
import { cpuMicros } from '../gateway/process-cost.mjs';
import { percentile } from '../locks/numbers.mjs';
import { LockService, RedisLockStore } from '../../dist/lock/index.js';
import { RedisStore } from '../../dist/store/index.js';
import { LIMITED_KEY, PLAIN_KEY } from './config.mjs';
import { Load } from './load.mjs';
import { progressOf } from './progress.mjs';

const START_TIMEOUT_MS = 10_000;
const REQUESTS = { alone: 300, together: 1_200 };
const TOGETHER = 32;
const WARM_UP = 1_500;
const SECTIONS = 500;

/** @returns {Promise<{calls: readonly object[], lock: {p50Ms: number, commands: number}}>} */
export async function measureOverhead(site, { rounds, scale }) {
  const entrants = await entrantsOf(site);
  const taken = Object.fromEntries(entrants.map(({ name }) => [name, []]));
  const progressed = progressOf('overhead of a call', rounds * entrants.length);
  for (const { load, model, key } of entrants) await load.run({ model, key, total: WARM_UP, atOnce: TOGETHER });
  let done = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const entrant of turned(entrants, round)) {
      taken[entrant.name].push(await measure(site.redis, entrant, scale));
      done += 1;
      progressed(done);
    }
  }
  await Promise.all(entrants.map(({ load }) => load.close()));
  return { calls: entrants.map((entrant) => summary(entrant, taken)), lock: await measureLock(site.redis) };
}

/** The same call to the provider, in five ways. */
async function entrantsOf({ judge, pods: [pod] }) {
  const bare = startOwn('./bare-proxy.mjs', [judge.url]);
  const { port } = await messageOf(bare, START_TIMEOUT_MS);
  const entrant = (name, title, { url, process, model = 'plain', key = PLAIN_KEY }) => {
    return { name, title, process, model, key, load: new Load([url], TOGETHER) };
  };
  const limited = { ...pod, model: 'limited' };
  return [
    entrant('direct', 'direct', { url: judge.url }),
    entrant('bare', 'bare JSON proxy', { url: `http://127.0.0.1:${port}`, process: bare }),
    entrant('plain', 'coordinator, no limits', pod),
    entrant('limited', "coordinator, a model's limits", limited),
    entrant('everything', 'coordinator, limits of model and caller, budget, cache', {
      ...limited,
      model: 'everything',
      key: LIMITED_KEY,
    }),
  ];
}

async function measure(redis, { load, model, key, process }, scale) {
  const aloneBefore = await scriptsOf(redis);
  const alone = await run(load, { model, key, total: Math.ceil(REQUESTS.alone * scale), atOnce: 1 });
  const scriptsBefore = await scriptsOf(redis);
  const before = process === undefined ? 0 : cpuMicros(process.pid);
  const total = Math.ceil(REQUESTS.together * scale);
  const redisBefore = redis.cpuMicros();
  await run(load, { model, key, total, atOnce: TOGETHER });
  return {
    p50Ms: percentile(alone.latencies, 0.5),
    scriptsAlone: (scriptsBefore - aloneBefore) / alone.latencies.length,
    cpuMicros: process && (cpuMicros(process.pid) - before) / total,
    redisMicros: (redis.cpuMicros() - redisBefore) / total,
    scripts: ((await scriptsOf(redis)) - scriptsBefore) / total,
  };
}

/** Every change is one script; what those call themselves is no round trip. */
async function scriptsOf(redis) {
  return (await redis.calls()).get('evalsha') ?? 0;
}

/** @throws Error for any failure: nothing here is refused */
async function run(load, plan) {
  const taken = await load.run(plan);
  const failures = Object.entries(taken.failures);
  if (failures.length > 0) throw new Error(`${plan.model}: ${failures.map((each) => each.join(' x ')).join('; ')}`);
  return taken;
}

function summary({ name, title }, taken) {
  const own = taken[name];
  const against = (other, key, compare) =>
    median(own.map((round, index) => compare(round[key], taken[other][index][key])));
  return {
    ...{ name, title },
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    addedP50Ms: against('direct', 'p50Ms', (a, b) => a - b),
    addedToPlainMs: against('plain', 'p50Ms', (a, b) => a - b),
    cpuMicros: median(own.map((round) => round.cpuMicros)),
    cpuToBare: own[0].cpuMicros && against('bare', 'cpuMicros', (a, b) => a / b),
    redisMicros: median(own.map(({ redisMicros }) => redisMicros)),
    scripts: median(own.map(({ scripts }) => scripts)),
    scriptsAlone: median(own.map(({ scriptsAlone }) => scriptsAlone)),
  };
}

/** Acquire and release of a key that nobody else wants. */
async function measureLock(redis) {
  const store = new RedisStore({
    kind: 'standalone',
    host: '127.0.0.1',
    port: redis.port,
    db: 0,
    tls: false,
    keyPrefix: 'bench:',
  });
  const locks = new LockService(new RedisLockStore(store));
  const section = (name) => locks.withLock(name, { waitMs: 1_000 }, () => Promise.resolve());
  for (let warm = 0; warm < SECTIONS; warm += 1) await section(`warm:${warm}`);
  const scriptsBefore = await scriptsOf(redis);
  const times = [];
  for (let index = 0; index < SECTIONS; index += 1) {
    const startedAt = performance.now();
    await section(`lock:${index}`);
    times.push(performance.now() - startedAt);
  }
  const commands = ((await scriptsOf(redis)) - scriptsBefore) / SECTIONS;
  await locks.close();
  await store.close();
  return { p50Ms: percentile(times, 0.5), commands };
}
