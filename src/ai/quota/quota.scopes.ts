import {
  type BudgetRule,
  isUnlimited,
  type Scope,
  type ScopeLimits,
  scopeRules,
  type Wish,
} from '../../admission/index.js';
import type { Caller } from '../../auth/index.js';
import type { BudgetSettings, LimitSettings, ModelSettings } from '../../config/index.js';
import type { Deployment } from '../catalogue/catalogue.js';
import { MICRO_PER_USD } from './micro.usd.js';
import { MINUTE_MS } from './minute.limits.js';

/** Whose limits a scope has, in errors and metrics. */
export type QuotaKind = 'caller' | 'budget' | 'model' | 'deployment';

/** Something with limits of its own. */
export interface QuotaScope extends Pick<Wish, 'slots' | 'whenStoreDown'> {
  readonly kind: QuotaKind;
  readonly scope: Scope;
  /** Room depends on how many tokens a call takes. */
  readonly countsTokens: boolean;
  /** The smallest of its windows' limits; without one, infinite. */
  readonly mostTokens: number;
}

/** The scopes of admission by the settings. Undefined stands for whatever has no limits. All names are of the configuration. */
export class QuotaScopes {
  readonly #known = new Map<string, QuotaScope | undefined>();

  /** How often and how much a caller may call. */
  ofCaller({ id, limits }: Caller): QuotaScope | undefined {
    // These are our own limits, judged by nobody else: what a call did not use is free again at its end.
    return this.#scope('caller', id, () => ({ ...limitsOf(limits), tokenRule: 'own' }), limits);
  }

  /** What a caller may spend; apart from its limits, since it moves from hop to hop with what the hop may cost. */
  ofBudget({ id, budget }: Caller): QuotaScope | undefined {
    if (budget === undefined) return undefined;
    return this.#scope('budget', id, () => ({ budgets: budgetsOf(budget) }), { whenStoreDown: 'refuse' });
  }

  /** What a model may be used by all deployments together. */
  ofModel({ name, limits }: ModelSettings): QuotaScope | undefined {
    return this.#scope('model', name, () => limitsOf(limits), limits);
  }

  /** What a provider sells for one key. */
  ofDeployment({ id, limits }: Deployment): QuotaScope | undefined {
    return this.#scope('deployment', id, () => limitsOf(limits), limits);
  }

  #scope(
    kind: QuotaKind,
    id: string,
    limits: () => ScopeLimits,
    { slots, whenStoreDown }: Pick<LimitSettings, 'slots' | 'whenStoreDown'>,
  ): QuotaScope | undefined {
    const name = `${kind}:${id}`;
    if (!this.#known.has(name)) {
      // A caller's limits lie where its budget does, so that one script asks for both.
      const slot = kind === 'caller' ? { slot: `budget:${id}` } : {};
      const scope = { name, rules: scopeRules(limits()), ...slot };
      const tokenLimits = scope.rules.windows.flatMap(({ tokens }) => tokens ?? []);
      const isLimited = !isUnlimited(scope.rules);
      const known: QuotaScope = {
        kind,
        scope,
        countsTokens: tokenLimits.length > 0 || kind === 'budget',
        mostTokens: Math.min(...tokenLimits),
        ...(slots !== undefined && { slots }),
        ...(whenStoreDown !== undefined && { whenStoreDown }),
      };
      this.#known.set(name, isLimited ? known : undefined);
    }
    return this.#known.get(name);
  }
}

function limitsOf({ rpm, tpm, concurrency, windows = [], tokenRule }: LimitSettings): ScopeLimits {
  const hasMinute = rpm !== undefined || tpm !== undefined;
  return {
    windows: [...(hasMinute ? [{ windowMs: MINUTE_MS, requests: rpm, tokens: tpm }] : []), ...windows],
    tokenRule,
    concurrency,
  };
}

function budgetsOf({ usdPerDay, usdPerMonth, tokensPerDay, tokensPerMonth }: BudgetSettings): readonly BudgetRule[] {
  const microUsd = (usd: number | undefined): number | undefined => usd && Math.round(usd * MICRO_PER_USD);
  const limits = [
    { unit: 'usd', period: 'day', limit: microUsd(usdPerDay) },
    { unit: 'usd', period: 'month', limit: microUsd(usdPerMonth) },
    { unit: 'tokens', period: 'day', limit: tokensPerDay },
    { unit: 'tokens', period: 'month', limit: tokensPerMonth },
  ] as const;
  return limits.flatMap(({ limit, ...rule }) => (limit === undefined ? [] : [{ ...rule, limit }]));
}
