import { describe, expect, it } from '@jest/globals';
import { type KeyKnowledge, type PlanRequest, RoutePlanner } from '../../../src/ai/route/route.planner.js';
import type { Obstacle } from '../../../src/ai/route/obstacle.js';
import type { Candidate, RoutePlan } from '../../../src/ai/route/route.plan.js';
import { OpenAiAdapter } from '../../../src/ai/upstream/openai.adapter.js';
import type { ProviderAdapter } from '../../../src/ai/upstream/provider.adapter.js';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';
import { ApiError } from '../../../src/http/index.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';

/** small and medium share their sizes with nobody; strict refuses temperature; apart counts its prompt alone. */
const places = catalogue({
  models: [
    model('small', [deployment('one'), deployment('two')], { contextWindow: 1_000, fallbacks: ['large'] }),
    model('large', [deployment('three')], { contextWindow: 9_000, fallbacks: ['small'] }),
    model('apart', [deployment('one')], { contextWindow: 1_000, separateInputLimit: true, fallbacks: ['large'] }),
    model('cold', [deployment('one')], { supportsTemperature: false, contextWindow: 9_000, fallbacks: ['large'] }),
  ],
  providers: [provider('one', 'k1'), provider('two', 'k2'), provider('three', 'k3')],
  tiers: { free: ['small'], pro: [], enterprise: ['small', 'large', 'apart', 'cold'] },
});

const KEYS: KeyKnowledge = {
  isWorth: () => true,
  isNearlyUsed: () => false,
  rotate: (deployments) => deployments,
  took: () => undefined,
};

interface Wish extends Partial<PlanRequest> {
  readonly keys?: Partial<KeyKnowledge>;
  /** Whose adapter has no words for a request. */
  readonly wordless?: string;
  /** By the model's name. */
  readonly counts?: Readonly<Record<string, number>>;
}

const openAi = new OpenAiAdapter(new UndiciTransport());

async function plan(
  name: string,
  { keys, wordless, counts = {}, ...request }: Wish = {},
): Promise<{ plan: RoutePlan; counted: string[] }> {
  const counted: string[] = [];
  const adapter: ProviderAdapter = {
    untranslatable: () => ({ param: 'logit_bias', why: 'has no counterpart there' }),
    complete: (attempt) => openAi.complete(attempt),
    stream: (attempt) => openAi.stream(attempt),
  };
  const planner = new RoutePlanner(places, (each) => (each.provider === wordless ? adapter : openAi), {
    ...KEYS,
    ...keys,
  });
  const found = await planner.plan({
    ...requestOf(name),
    countPrompt: (each) => {
      counted.push(each.name);
      return Promise.resolve(counts[each.name] ?? 0);
    },
    ...request,
  });
  return { plan: found, counted };
}

function requestOf(name: string): PlanRequest {
  return {
    names: [name],
    isExplicit: false,
    caller: { id: 'c', tier: 'enterprise', scopes: ['chat'], weight: 1, limits: {} },
    isStrict: false,
    body: {},
    bodyLength: 100,
    maxOutputTokens: 0,
    countPrompt: () => Promise.resolve(0),
  };
}

const orderOf = ({ candidates }: RoutePlan): readonly string[] =>
  candidates.map(({ model: { name }, deployment: { provider: at } }) => `${name}@${at}`);
const reasonOf = (found: RoutePlan): string | undefined =>
  found.candidates[0] && found.reasonFor(found.candidates[0].model);

describe('RoutePlanner', () => {
  it('keeps the order of the chain and of each model’s deployments', async () => {
    const { plan: found } = await plan('small');
    expect(orderOf(found)).toEqual(['small@one', 'small@two', 'large@three']);
    expect(reasonOf(found)).toBe('requested');
  });

  describe('the size of the prompt', () => {
    it('is not counted where no count could make a difference', async () => {
      expect((await plan('small', { bodyLength: 300 })).counted).toEqual([]);
      expect((await plan('small', { bodyLength: 90_000, isStrict: true })).counted).toEqual([]);
    });

    it('is counted as each model counts, and what does not fit goes last, for the provider may know better', async () => {
      const { plan: found, counted } = await plan('small', {
        bodyLength: 5_000,
        counts: { small: 1_001, large: 1_200 },
      });
      expect(counted).toEqual(['small', 'large']);
      expect(orderOf(found)).toEqual(['large@three', 'small@one', 'small@two']);
      expect(reasonOf(found)).toBe('context');
    });

    it('counts with what the answer may take, no more than the model writes, and not where the limits are apart', async () => {
      const counts = { small: 950, apart: 950, large: 950 };
      expect(orderOf((await plan('small', { bodyLength: 5_000, counts, maxOutputTokens: 50 })).plan)[0]).toBe(
        'small@one',
      );
      expect(orderOf((await plan('small', { bodyLength: 5_000, counts, maxOutputTokens: 51 })).plan)[0]).toBe(
        'large@three',
      );
      expect(
        orderOf((await plan('small', { bodyLength: 5_000, counts: { small: 900 }, maxOutputTokens: 9_000 })).plan)[0],
      ).toBe('small@one');
      expect(orderOf((await plan('apart', { bodyLength: 5_000, counts, maxOutputTokens: 100 })).plan)[0]).toBe(
        'apart@one',
      );
    });

    it('is not counted for models after the first that has room, nor for one that has room for any count', async () => {
      const counts = { small: 900, large: 1_000 };
      expect((await plan('small', { bodyLength: 5_000, counts })).counted).toEqual(['small']);
      const { plan: found, counted } = await plan('small', { bodyLength: 2_900, counts: { small: 1_001 } });
      expect([counted, orderOf(found)[0]]).toEqual([['small'], 'large@three']);
    });

    it('changes nothing where it fits nobody', async () => {
      const { plan: found } = await plan('small', { bodyLength: 50_000, counts: { small: 20_000, large: 20_000 } });
      expect([orderOf(found)[0], reasonOf(found)]).toEqual(['small@one', 'requested']);
    });

    it('fails with the caller’s reason when it leaves meanwhile', async () => {
      const reason = new Error('left');
      await expect(plan('small', { bodyLength: 5_000, countPrompt: () => Promise.reject(reason) })).rejects.toBe(
        reason,
      );
    });
  });

  it('leaves out who has no words for the request, and says which where nobody has', async () => {
    const { plan: found } = await plan('small', { wordless: 'one' });
    expect(orderOf(found)).toEqual(['small@two', 'large@three']);
    expect(reasonOf(found)).toBe('requested');
    const { plan: none } = await plan('apart', { wordless: 'one', isStrict: true });
    expect(none.candidates).toEqual([]);
    expect(none.refusal()).toMatchObject({
      code: 'unprocessable',
      param: 'logit_bias',
      message: 'apart at one: logit_bias has no counterpart there',
    });
  });

  it('asks each kind of provider once whether it has words for the request', async () => {
    let asked = 0;
    const adapter: ProviderAdapter = {
      untranslatable: () => void (asked += 1),
      complete: (attempt) => openAi.complete(attempt),
      stream: (attempt) => openAi.stream(attempt),
    };
    const { candidates } = await new RoutePlanner(places, () => adapter, KEYS).plan(requestOf('small'));
    expect([asked, candidates.length]).toEqual([1, 3]);
  });

  describe('the reason that is told', () => {
    const broken: Obstacle = { detour: 'error', error: new ApiError('upstream_error', 'broken') };
    const usedUp: Obstacle = { detour: 'quota', error: new ApiError('insufficient_quota', 'used up') };
    const at = ({ candidates }: RoutePlan, provider: string): Candidate => {
      const found = candidates.find(({ deployment: { provider: name } }) => name === provider);
      if (found === undefined) throw new RangeError(`no candidate at ${provider}`);
      return found;
    };

    it('is what stood in the way of the first deployment, not what is known of a later one', async () => {
      const { plan: found } = await plan('small', { wordless: 'two' });
      found.meet(at(found, 'one'), usedUp);
      expect(found.reasonFor(at(found, 'three').model)).toBe('quota');
      const { plan: other } = await plan('small', { wordless: 'one' });
      other.meet(at(other, 'two'), usedUp);
      expect(other.reasonFor(at(other, 'three').model)).toBe('error');
    });

    it('says nothing of a fallback that failed, or of another name of the list that is refused', async () => {
      const caller = { id: 'c', tier: 'free', scopes: ['chat'], weight: 1, limits: {} } as const;
      const { plan: found } = await plan('small', { wordless: 'three' });
      found.meet(at(found, 'one'), broken);
      expect(found.reasonFor({ ...at(found, 'one').model, name: 'other', aliases: [] })).toBe('error');
      const listed = await plan('small', { names: ['small', 'large'], isExplicit: true, caller });
      listed.plan.meet(at(listed.plan, 'one'), usedUp);
      expect(listed.plan.reasonFor({ ...at(listed.plan, 'one').model, name: 'other', aliases: [] })).toBe('quota');
    });
  });

  it.each([
    [{ temperature: 0.5 }, 'temperature'],
    [{ top_p: 0.9 }, 'top_p'],
  ])('does not send %j to a model that refuses it', async (body, param) => {
    const { plan: found } = await plan('cold', { body });
    expect([orderOf(found), reasonOf(found)]).toEqual([['large@three'], 'error']);
    const { plan: none } = await plan('cold', { body, isStrict: true });
    expect(none.refusal()).toMatchObject({ code: 'unprocessable', param });
  });

  it.each([{}, { temperature: 1 }, { temperature: null, top_p: 1 }])('sends %j to it', async (body) => {
    expect(orderOf((await plan('cold', { body })).plan)[0]).toBe('cold@one');
  });

  it('goes to keys that are nearly used last, and says so', async () => {
    const isNearlyUsed: KeyKnowledge['isNearlyUsed'] = ({ provider: at }) => at === 'one';
    const { plan: found } = await plan('small', { keys: { isNearlyUsed } });
    expect(orderOf(found)).toEqual(['small@two', 'large@three', 'small@one']);
    expect(reasonOf(found)).toBe('requested');
    const both: KeyKnowledge['isNearlyUsed'] = ({ provider: at }) => at !== 'three';
    const { plan: away } = await plan('small', { keys: { isNearlyUsed: both } });
    expect([orderOf(away), reasonOf(away)]).toEqual([['large@three', 'small@one', 'small@two'], 'quota']);
    const { plan: all } = await plan('small', { keys: { isNearlyUsed: () => true } });
    expect(orderOf(all)).toEqual(['small@one', 'small@two', 'large@three']);
  });

  it('takes the keys of a model in the order in which they are rotated', async () => {
    const rotate: KeyKnowledge['rotate'] = (deployments) => deployments.toReversed();
    expect(orderOf((await plan('small', { keys: { rotate } })).plan)).toEqual([
      'small@two',
      'small@one',
      'large@three',
    ]);
  });

  it('row 16: holds no model outside the tiers of the caller or of our keys', async () => {
    const caller = { id: 'c', tier: 'free', scopes: ['chat'], weight: 1, limits: {} } as const;
    const { plan: free } = await plan('small', { caller, bodyLength: 50_000, counts: { small: 20_000 } });
    expect(orderOf(free)).toEqual(['small@one', 'small@two']);
    const isWorth: KeyKnowledge['isWorth'] = ({ provider: at }) => at === 'two';
    expect(orderOf((await plan('small', { keys: { isWorth } })).plan)).toEqual(['small@two']);
  });
});
