import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { PODS, QuotaFleet } from '../support/quota-fleet.js';
import { type LoadedCall, loadFleet } from '../support/quota-fleet-load.js';
import { SeededRandom } from '../simulation/seeded.random.js';

jest.setTimeout(sized(120_000, 600_000));

const LOAD_MS = sized(5_000, 60_000);
/** Between two kills, ms; a pod takes about as long to start again. */
const PAUSE_MS = { least: 500, most: 2_000 };
const SLOTS = 6;
/** What is promised; a machine that runs other things beside may be late. */
const BACK_MS = sized(20_000, 10_000);
const MODEL = 'busy';
/** Of a pod that dies at the end. */
const HELD = 'held';
const CALLER = 'spender';
/** Nobody listened: no call was made. */
const UNREACHED = 'ECONNREFUSED';
const BUDGET_USD = 1_000;
const MAX_TOKENS = 50;
const LIMITS = { concurrency: SLOTS };
const BUDGETS = [{ unit: 'usd', period: 'day', limit: BUDGET_USD * 1_000_000 }] as const;
/** USD per token. */
const PRICES = { input: 2e-6, output: 8e-6 };
/** What a call reserves: its prompt of about ten tokens, and what is added to it, and the answer that it may have. */
const RESERVED_USD = 40 * PRICES.input + MAX_TOKENS * PRICES.output;

describe('pods that are killed amid their calls', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
  const random = new SeededRandom(seed);
  let fleet: QuotaFleet;

  beforeEach(async () => {
    fleet = await QuotaFleet.start({
      models: {
        [MODEL]: { limits: LIMITS, simulated: { firstTokenMs: 100, tokensPerSecond: 1_000 } },
        [HELD]: { limits: LIMITS },
      },
      callers: { [CALLER]: { budget: { usdPerDay: BUDGET_USD, hard: true } } },
    });
  });
  afterEach(() => fleet.close());

  it(`give their slots back in time, and leave no bill out of the budget's books (CHAOS_SEED=${String(seed)})`, async () => {
    const over = new AbortController();
    const callers = [{ name: CALLER, lanes: 4 * SLOTS }];
    const load = loadFleet(fleet, { model: MODEL, callers, body: { max_tokens: MAX_TOKENS } }, over.signal);
    const kills = await killAtRandom(performance.now() + LOAD_MS);
    over.abort();
    const calls = await load;
    expect(calls.filter(isWrong)).toEqual([]);
    const { backMs, restedMs } = await killWithAllSlots();
    expect([backMs, restedMs].filter((ms) => ms > BACK_MS)).toEqual([]);

    const billUsd = (await billOf(MODEL)) + (await billOf(HELD));
    const spentUsd = (await fleet.usage(CALLER, 1)).budgets[0]?.spent ?? 0;
    // Those whose end nobody was left to tell are booked as they were reserved; so are those that were cut off at the end.
    const untold = calls.filter(({ status, code }) => status === 0 && code !== UNREACHED).length + 4 * SLOTS + SLOTS;
    expect(spentUsd).toBeGreaterThanOrEqual(round(billUsd));
    expect(spentUsd).toBeLessThanOrEqual(billUsd + untold * RESERVED_USD);
    expect(await fleet.endlessKeys()).toEqual([]);
    recordFigures('quota-kill', {
      ...{ seed, kills, seconds: LOAD_MS / 1_000, calls: calls.length, untold, slots: SLOTS },
      ...{ slotsBackMs: Math.round(backMs), nothingReservedAfterMs: Math.round(restedMs) },
      ...{ billUsd: round(billUsd), spentUsd },
    });
  });

  /** Kills a pod that has every slot. @returns when others had them all, and when nothing was reserved any more */
  async function killWithAllSlots(): Promise<{ backMs: number; restedMs: number }> {
    const ask = (pod: number): Promise<Response> =>
      fleet.ask({ model: HELD, caller: CALLER, pod, body: { max_tokens: MAX_TOKENS } });
    await fleet.judge.script({ model: HELD, neverAnswer: true, times: SLOTS });
    const lost = Array.from({ length: SLOTS }, () => ask(0).catch(() => 'lost'));
    await eventually(async () => (await fleet.books(HELD)).inFlight === SLOTS);
    await fleet.pod(0).kill();
    const killedAt = performance.now();
    const others = await Promise.all(Array.from({ length: SLOTS }, (_, index) => ask(1 + (index % 2))));
    const backMs = performance.now() - killedAt;
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect(await Promise.all(lost)).toEqual(lost.map(() => 'lost'));
    await eventually(isAtRest, BACK_MS + 10_000);
    return { backMs, restedMs: performance.now() - killedAt };
  }

  /** @returns how many */
  async function killAtRandom(until: number): Promise<number> {
    let kills = 0;
    for (;;) {
      await sleep(PAUSE_MS.least + random.below(PAUSE_MS.most - PAUSE_MS.least));
      if (performance.now() >= until) return kills;
      const index = random.below(PODS);
      await fleet.pod(index).kill();
      await fleet.replace(index);
      kills += 1;
    }
  }

  /** By the provider's books, USD. */
  async function billOf(model: string): Promise<number> {
    const { billed, billedPartly } = await fleet.books(model);
    const promptTokens = billed.promptTokens + billedPartly.promptTokens;
    return promptTokens * PRICES.input + (billed.completionTokens + billedPartly.completionTokens) * PRICES.output;
  }

  /** Nothing is reserved, by the store and by what the caller is told. */
  async function isAtRest(): Promise<boolean> {
    const budget = await fleet.inspect(`budget:${CALLER}`, { budgets: BUDGETS });
    const models = await Promise.all([MODEL, HELD].map((model) => fleet.inspect(`model:${model}`, LIMITS)));
    const places = models.flatMap(({ open, queued }) => [open, queued]);
    const told = (await fleet.usage(CALLER, 1)).budgets.map(({ reserved }) => reserved);
    return [budget.open, budget.reserved.microUsd, ...places, ...told].every((amount) => amount === 0);
  }
});

/** A killed pod ends connections, and nobody can reach it for a while. That is all that may go wrong. */
function isWrong({ status }: LoadedCall): boolean {
  return status !== 200 && status !== 0;
}

/** To a micro-dollar. */
function round(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}
