import { hash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Agent } from 'undici';
import { SeededRandom } from '../simulation/seeded.random.js';
import { lastingScripts, LONG_WAIT, outage } from '../support/chaos-faults.js';
import {
  callerKey,
  CHAOS_DEADLINE_MS,
  CHAOS_TIERS,
  type ChaosRequest,
  chaosRequest,
  type ChaosTier,
  sendChaos,
} from '../support/chaos-traffic.js';
import { modelAcross, providerAt } from '../support/config-file.js';
import { type Coordinator, startConfigured } from '../support/configured-coordinator.js';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { StallClock } from '../support/stall-clock.js';

jest.setTimeout(sized(120_000, 900_000));

const REQUESTS = sized(200, 2_000);
const LANES = 50;
/** Every so many requests one provider fails a while, in one way. */
const OUTAGE_EVERY = 100;
const OUTAGE_CALLS = 6;
/** A client that is told to come later does so, ms. */
const LATER_MS = sized(300, 1_500);
const PROVIDERS = ['a', 'b', 'c', 'd', 'e'] as const;
const CHANNEL = 'undici:request:create';

/** A call of a provider, as it left this service. */
interface SentCall {
  readonly id: string;
  readonly origin: string;
  /** The model by its catalogue name. */
  readonly model: string;
}

describe('completions before five providers that fail in every way the simulator knows', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
  const random = new SeededRandom(seed);
  let simulators: readonly TestSimulator[];
  let coordinator: Coordinator;
  let agent: Agent;
  let stalls: StallClock;
  const sent: SentCall[] = [];
  const note = (message: unknown): void => {
    const call = sentCall(message, simulators);
    if (call !== undefined) sent.push(call);
  };

  beforeEach(async () => {
    simulators = await Promise.all(PROVIDERS.map((provider, index) => startProvider(provider, seed + index)));
    coordinator = await startConfigured(configuration(simulators));
    agent = new Agent({ connections: LANES });
    stalls = new StallClock();
    subscribe(CHANNEL, note);
  });
  afterEach(async () => {
    unsubscribe(CHANNEL, note);
    stalls.stop();
    await agent.close();
    await coordinator.close();
    await Promise.all(simulators.map((simulator) => simulator.close()));
  });

  it(`answers ${String(REQUESTS)} requests rightly or honestly, each in its time (CHAOS_SEED=${String(seed)})`, async () => {
    const requests = Array.from({ length: REQUESTS }, (_, index) => chaosRequest(seed, index));
    const outcomes: Record<string, number> = {};
    const statuses: Record<string, number> = {};
    const faults: string[] = [];
    const startedAt = performance.now();
    const queue = requests.entries();
    const lane = async (): Promise<void> => {
      for (const [index, request] of queue) {
        if (index % OUTAGE_EVERY === 0)
          await random.pick(asPair(simulators)).script(outage(random.next(), OUTAGE_CALLS));
        const ended = await sendChaos(request, { url: coordinator.url, dispatcher: agent, stalls });
        outcomes[ended.outcome] = (outcomes[ended.outcome] ?? 0) + 1;
        statuses[ended.status] = (statuses[ended.status] ?? 0) + 1;
        faults.push(...ended.faults);
        if (ended.status === 503) await new Promise((resolve) => setTimeout(resolve, LATER_MS));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const seconds = (performance.now() - startedAt) / 1_000;

    expect([`CHAOS_SEED=${String(seed)}`, ...faults]).toEqual([`CHAOS_SEED=${String(seed)}`]);
    expect(forbiddenCalls(requests, sent)).toEqual([]);
    const most = mostCalls(sent);
    expect(most.ofOneRequest).toBeLessThanOrEqual(6);
    expect(most.ofOneRequestAtOneModel).toBeLessThanOrEqual(2 * KEYS.length);
    await everyCallEnded(simulators);
    // Each once; of those that were left, some were gone before they were read.
    const read = await counted(coordinator);
    expect(read).toBeLessThanOrEqual(REQUESTS);
    expect(read).toBeGreaterThanOrEqual(REQUESTS - (outcomes['left'] ?? 0));
    expect(coordinator.logs()).not.toContain('unforeseen error');
    // Enough of it goes well: or else nothing was proved.
    const good = (outcomes['answered'] ?? 0) + (outcomes['streamed'] ?? 0);
    expect(good / REQUESTS).toBeGreaterThan(0.2);
    recordFigures('completions-chaos', {
      seed,
      requests: REQUESTS,
      seconds: Math.round(seconds),
      ...outcomes,
      statuses,
      providerCalls: sent.length,
      mostAttempts: most.ofOneRequest,
    });
  });

  it('leaves no connection open, whatever became of the calls on it', async () => {
    const own = await startConfigured(configuration(simulators));
    const dispatcher = new Agent({ connections: LANES });
    const requests = Array.from({ length: LANES }, (_, index) => chaosRequest(seed + 1, index));
    await Promise.all(requests.map((request) => sendChaos(request, { url: own.url, dispatcher, stalls })));
    expect(process.getActiveResourcesInfo()).toContain('TCPSocketWrap');
    await dispatcher.close();
    await own.close();
    await eventually(() => !process.getActiveResourcesInfo().includes('TCPSocketWrap'), 10_000);
  });
});

const KEYS = ['1-good', '2-refused', '3-used-up', '4-good'] as const;

async function startProvider(provider: string, seed: number): Promise<TestSimulator> {
  const windows = { basic: 100_000, medium: 100_000, large: 100_000, tiny: 200 };
  const models = Object.entries(windows).map(([name, contextWindow]) => ({
    name: `${provider}-${name}`,
    contextWindow,
    maxOutputTokens: 60,
    tokenizer: { encoding: 'o200k', ratio: 1 } as const,
    firstTokenMs: 5,
    tokensPerSecond: 2_000,
  }));
  const simulator = await startTestSimulator({ models, seed });
  if (provider === 'b') await simulator.script(LONG_WAIT);
  await simulator.script(...lastingScripts({ refused: '2-refused', usedUp: '3-used-up' }));
  return simulator;
}

function configuration(simulators: readonly TestSimulator[]): Parameters<typeof startConfigured>[0] {
  const common = { maxOutputTokens: 60, timeouts: { connectMs: '500ms', firstTokenMs: '400ms', idleMs: '500ms' } };
  const variables = (provider: string): readonly string[] =>
    KEYS.map((_, key) => `${provider.toUpperCase()}_KEY_${String(key + 1)}`);
  return {
    file: {
      providers: PROVIDERS.map((provider, index) =>
        providerAt(provider, simulators[index]?.url ?? '', { keyVariable: variables(provider) }),
      ),
      models: [
        modelAcross(['a', 'e'], 'basic', common),
        modelAcross(['c', 'd'], 'medium', { ...common, fallbacks: ['basic'] }),
        modelAcross(['a', 'b'], 'large', { ...common, fallbacks: ['medium', 'basic'] }),
        // Larger here than there: the provider finds out.
        modelAcross(['b', 'd'], 'tiny', { ...common, contextWindow: 4_000, fallbacks: ['medium', 'large'] }),
      ],
      tiers: CHAOS_TIERS,
      callers: Object.keys(CHAOS_TIERS).map((tier) => ({
        name: tier,
        tier,
        keySha256: hash('sha256', callerKey(tier as ChaosTier)),
      })),
    },
    keys: Object.fromEntries(
      PROVIDERS.flatMap((provider) =>
        variables(provider).map((name, key) => [name, `key-at-${provider}-${KEYS[key] ?? ''}`]),
      ),
    ),
    environment: { REQUEST_DEADLINE_MS: String(CHAOS_DEADLINE_MS) },
  };
}

function sentCall(message: unknown, simulators: readonly TestSimulator[]): SentCall | undefined {
  const { request } = message as { request: { origin: string; path: string; headers: string[]; body: Buffer | null } };
  const { origin, path, headers, body } = request;
  if (path !== '/v1/chat/completions' || !simulators.some((simulator) => simulator.origin === origin)) return undefined;
  const { model } = JSON.parse(String(body)) as { model: string };
  return { id: headers[headers.indexOf('x-request-id') + 1] ?? '', origin, model: model.replace(/^[a-e]-/, '') };
}

/** Calls of models that the caller may not use, or did not ask for and was strict. */
function forbiddenCalls(requests: readonly ChaosRequest[], sent: readonly SentCall[]): readonly string[] {
  const byId = new Map(requests.map((request) => [request.id, request]));
  return sent.flatMap(({ id, model }) => {
    const request = byId.get(id);
    if (request === undefined) return [`${id}: nobody's`];
    const isAllowed =
      CHAOS_TIERS[request.tier].includes(model) && (!request.isStrict || request.models.includes(model));
    return isAllowed ? [] : [`${id}: ${model}`];
  });
}

function mostCalls(sent: readonly SentCall[]): {
  readonly ofOneRequest: number;
  readonly ofOneRequestAtOneModel: number;
} {
  const most = (keyOf: (call: SentCall) => string): number => {
    const counts = new Map<string, number>();
    for (const call of sent) counts.set(keyOf(call), (counts.get(keyOf(call)) ?? 0) + 1);
    return Math.max(...counts.values());
  };
  return {
    ofOneRequest: most(({ id }) => id),
    ofOneRequestAtOneModel: most(({ id, origin, model }) => [id, origin, model].join()),
  };
}

/** Also the calls that were abandoned: within a second, says the promise. */
async function everyCallEnded(simulators: readonly TestSimulator[]): Promise<void> {
  await eventually(async () => {
    const stats = await Promise.all(simulators.map((simulator) => simulator.stats()));
    return stats.every(({ inFlight }) => inFlight === 0);
  }, 5_000);
}

/** Completions that ended, by the metrics: each once. */
async function counted({ url }: Coordinator): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^coordinator_completions_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

function asPair<Item>([first, ...rest]: readonly Item[]): readonly [Item, ...Item[]] {
  if (first === undefined) throw new RangeError('there is at least one');
  return [first, ...rest];
}
