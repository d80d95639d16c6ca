import { describe, expect, it } from '@jest/globals';
import { RedisAdmissionStore, type Scope, scopeRules } from '../../src/admission/index.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { storeBench } from '../support/store-bench.js';

const bench = storeBench();
const CALLERS = sized(5_000, 50_000);
const AT_ONCE = 100;
const SAMPLE = 500;

const rules = scopeRules({
  windows: [{ windowMs: 60_000, requests: 1_000_000, tokens: 100_000_000 }],
  concurrency: 100,
});

/** Each script by itself: how often, and for how long of Redis' time. */
interface Cost {
  readonly scripts: number;
  readonly usPerScript: number;
  /** All that the scripts called, by call. */
  readonly commandsPerScript: number;
}

describe('admission among many callers', () => {
  it(`row 28: costs a call as much with ${String(CALLERS)} callers in Redis as with one`, async () => {
    const store = new RedisAdmissionStore(bench.open());
    const take = async (caller: number, call: string): Promise<void> => {
      const scope: Scope = { name: `caller:c${String(caller)}`, rules };
      const by = { scope, process: 'p1', seen: false, id: `${String(caller)}-${call}` };
      const wish = { flow: 'f', weight: 1, tokens: 10, microUsd: 0, waitMs: 0, leaseMs: 9_000 };
      expect((await store.acquire({ ...by, ...wish })).kind).toBe('granted');
      await store.settle({ ...by, tokens: 10, microUsd: 0 });
    };
    const sample = async (name: string, caller: (call: number) => number): Promise<Cost> => {
      await bench.admin.config('RESETSTAT');
      for (let call = 0; call < SAMPLE; call += 1) await take(caller(call), `${name}${String(call)}`);
      return costOf(await bench.admin.info('commandstats'));
    };
    // The first ones load the scripts.
    await sample('warm', () => 0);
    const few = await sample('few', () => 0);
    for (let from = 1; from < CALLERS; from += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => take(from + index, 'one')));
    const many = await sample('many', () => 0);
    const spread = await sample('spread', (call) => 1 + ((call * 7_919) % (CALLERS - 1)));

    expect(await bench.admin.dbsize()).toBeGreaterThan(CALLERS);
    for (const cost of [few, many, spread]) expect(cost.scripts).toBe(2 * SAMPLE);
    // Counts, not times: no script looks at what is another caller's.
    expect(many.commandsPerScript).toBeCloseTo(few.commandsPerScript, 0);
    expect(spread.commandsPerScript).toBeLessThan(few.commandsPerScript + 2);
    expect(Math.min(many.usPerScript, spread.usPerScript)).toBeLessThan(5 * few.usPerScript);
    recordFigures('quota-many-callers', { callers: CALLERS, few, many, spread });
  });
});

function costOf(stats: string): Cost {
  const lines = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)];
  const called = lines.map(([, name = '', calls, us]) => ({ name, calls: Number(calls), us: Number(us) }));
  const scripts = called.find(({ name }) => name === 'evalsha');
  if (scripts === undefined) throw new Error(`no scripts in ${stats}`);
  const outside = new Set(['evalsha', 'info', 'config|resetstat', 'ping']);
  const inside = called.filter(({ name }) => !outside.has(name)).reduce((sum, { calls }) => sum + calls, 0);
  return {
    scripts: scripts.calls,
    usPerScript: Math.round(scripts.us / scripts.calls),
    commandsPerScript: Math.round((10 * inside) / scripts.calls) / 10,
  };
}
