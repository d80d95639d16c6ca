import { describe, expect, it } from '@jest/globals';
import { modelChain, type ModelChain } from '../../../src/ai/route/model.chain.js';
import { RoutePlan } from '../../../src/ai/route/route.plan.js';
import type { Caller } from '../../../src/auth/index.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';

const caller = (tier: Caller['tier']): Caller => ({ id: 'c', tier, scopes: ['chat'], weight: 1, limits: {} });

interface Wish {
  readonly tier?: Caller['tier'];
  readonly isStrict?: boolean;
  readonly isExplicit?: boolean;
  readonly from?: ReturnType<typeof catalogue>;
  readonly isWorth?: (provider: string, model: string) => boolean;
}

function chain(names: readonly string[], wish: Wish = {}): ModelChain {
  const { tier = 'enterprise', isStrict = false, isExplicit = names.length > 1, from = catalogue(), isWorth } = wish;
  return modelChain(from, (each, { name }) => isWorth?.(each.provider, name) ?? true, {
    names,
    isExplicit,
    caller: caller(tier),
    isStrict,
  });
}

const modelsOf = ({ links }: ModelChain): readonly string[] => links.map(({ model: { name } }) => name);
const codesOf = ({ obstacles }: ModelChain): readonly string[] => obstacles.map(({ error }) => error.code);

/** As the answer's header says it. */
function reasonOf(names: readonly string[], found: ModelChain): string | undefined {
  const [first] = found.links;
  const candidates = found.links.map((link) => ({ model: link.model, deployment: link.deployments[0] }));
  const [name = ''] = names;
  const model = [...catalogue().models, ...family.models].find((each) => [each.name, ...each.aliases].includes(name));
  const asked = { name, model: model?.name ?? name, order: [] };
  return first && new RoutePlan(asked, candidates, found.obstacles).reasonFor(first.model);
}

const family = catalogue({
  models: [
    model('big', [deployment('one')], { fallbacks: ['mid', 'small'] }),
    model('mid', [deployment('one')], { fallbacks: ['big'] }),
    model('small', [deployment('one')]),
    model('old', [deployment('one', { shutdownAt: 1, successor: 'mid' })], { fallbacks: ['small'] }),
  ],
  providers: [provider('one', 'k1')],
  tiers: { free: ['small'], pro: ['small', 'mid', 'old'], enterprise: ['big', 'mid', 'small', 'old'] },
});

describe('modelChain()', () => {
  it('holds the requested model with its deployments in order', () => {
    const found = chain(['big']);
    expect(
      found.links.map(({ model: { name }, deployments }) => [name, deployments.map((each) => each.provider)]),
    ).toEqual([['big', ['one', 'two']]]);
    expect(reasonOf(['big'], found)).toBe('requested');
  });

  it('resolves an alias and says so', () => {
    const found = chain(['big-alias']);
    expect([modelsOf(found), reasonOf(['big-alias'], found)]).toEqual([['big'], 'alias']);
  });

  it.each(['nope', '__proto__', 'constructor', 'toString', ''])('does not take %j for a model', (name) => {
    expect(chain([name])).toMatchObject({
      links: [],
      obstacles: [{ error: { code: 'model_not_found', param: 'model' } }],
    });
  });

  it("puts the tier's first served model in place of one outside the tier", () => {
    for (const tier of ['free', 'pro'] as const) {
      const found = chain(['big'], { tier });
      expect([modelsOf(found), reasonOf(['big'], found)]).toEqual([['small'], 'tier']);
    }
  });

  it('refuses instead when the caller is strict', () => {
    expect(chain(['big'], { tier: 'free', isStrict: true })).toMatchObject({
      links: [],
      obstacles: [{ error: { code: 'model_not_allowed' } }],
    });
  });

  it('holds all usable models of an explicit list, and no other', () => {
    expect(modelsOf(chain(['nope', 'gone', 'small', 'big']))).toEqual(['small', 'big']);
    expect(modelsOf(chain(['big', 'mid'], { from: family }))).toEqual(['big', 'mid']);
  });

  it('goes on with the fallbacks of the requested model, but for those outside the tier', () => {
    expect(modelsOf(chain(['big'], { from: family }))).toEqual(['big', 'mid', 'small']);
    expect(modelsOf(chain(['mid'], { from: family, tier: 'pro' }))).toEqual(['mid']);
  });

  it('adds nothing for a strict caller', () => {
    expect(modelsOf(chain(['big'], { from: family, isStrict: true }))).toEqual(['big']);
  });

  it('says when a model was shut down and what its vendor names instead', () => {
    expect(chain(['gone'])).toMatchObject({
      links: [],
      obstacles: [{ error: { code: 'model_retired', message: expect.stringMatching(/2027-01-14.*next/) } }],
    });
  });

  it('puts the successor in place of a retired model where it is served, for who takes substitutes', () => {
    const found = chain(['old'], { from: family, tier: 'pro' });
    expect([modelsOf(found), reasonOf(['old'], found)]).toEqual([['mid'], 'retired']);
    expect(chain(['old'], { from: family, isStrict: true }).links).toEqual([]);
    expect(codesOf(chain(['old'], { from: family, isStrict: true }))).toEqual(['model_retired']);
  });

  it('does not find a model that no provider with a key serves', () => {
    expect(codesOf(chain(['keyless']))).toEqual(['model_not_found']);
  });

  it('leaves out the keys whose own tier does not include the model', () => {
    const found = chain(['big'], { isWorth: (at) => at === 'two' });
    expect(found.links[0]?.deployments.map((each) => each.provider)).toEqual(['two']);
  });

  it('takes a substitute where no key is worth the model, and refuses it to strict callers', () => {
    const isWorth = (_: string, name: string): boolean => name !== 'big';
    const found = chain(['big'], { isWorth });
    expect([modelsOf(found), reasonOf(['big'], found)]).toEqual([['small'], 'tier']);
    expect(codesOf(chain(['big'], { isWorth, isStrict: true }))).toEqual(['model_not_allowed']);
  });
});
