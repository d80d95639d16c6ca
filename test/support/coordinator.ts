import { type Coordinator, startConfigured } from './configured-coordinator.js';

export type { Coordinator } from './configured-coordinator.js';

export interface CoordinatorOptions {
  /** Base URLs: `test-model` has a deployment at each, in this order, under the names p1, p2, … */
  readonly upstreams: readonly string[];
  readonly timeouts?: { readonly connect?: string; readonly firstToken?: string; readonly idle?: string };
  readonly environment?: Readonly<Record<string, string>>;
  /** Of both models, for tests of the cache; default: none, so that each request is a call. */
  readonly cacheTtl?: string;
  /** Of the file; default: none, so that its defaults hold. */
  readonly cache?: Readonly<Record<string, number | string>>;
  /** Of every provider; default: none. */
  readonly usagePath?: string;
  /** Of the file; default: none, so that its defaults hold. */
  readonly attempts?: Readonly<Record<string, number | string>>;
  /** Of the file; default: none, so that everybody is `anonymous` unless `environment` has CALLER_KEYS. */
  readonly callers?: readonly object[];
  /** Default: everything for everybody. */
  readonly tiers?: Readonly<Record<'free' | 'pro' | 'enterprise', readonly string[]>>;
}

/**
 * This service in the test's own process, with the models `test-model` (alias `test-alias`), at 2 / 0.5 / 8 USD per million tokens,
 * and `small-model`.
 */
export function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { upstreams, environment = {} } = options;
  const keys = Object.fromEntries(
    upstreams.map((_, index): [string, string] => [`TEST_KEY_${String(index + 1)}`, keyOf(index)]),
  );
  return startConfigured({ file: fileOf(options), keys, environment });
}

function keyOf(index: number): string {
  return `upstream-key-${String(index + 1)}`;
}

function fileOf(options: CoordinatorOptions): object {
  const { upstreams, tiers, usagePath, attempts, callers, cache } = options;
  return {
    providers: upstreams.map((baseUrl, index) => ({
      name: `p${String(index + 1)}`,
      kind: 'openai',
      baseUrl,
      keyVariable: `TEST_KEY_${String(index + 1)}`,
      ...(usagePath !== undefined && { usagePath }),
    })),
    models: [testModel(options), smallModel(options)],
    ...(cache !== undefined && { cache }),
    ...(attempts !== undefined && { attempts }),
    ...(callers !== undefined && { callers }),
    tiers: tiers ?? { free: ALL_MODELS, pro: ALL_MODELS, enterprise: ALL_MODELS },
  };
}

const ALL_MODELS = ['test-model', 'small-model'];

function testModel({ upstreams, timeouts = {}, cacheTtl = '0s' }: CoordinatorOptions): object {
  return {
    name: 'test-model',
    aliases: ['test-alias'],
    created: 1,
    contextWindow: 1_000_000,
    maxOutputTokens: 10_000,
    cacheTtlMs: cacheTtl,
    timeouts: {
      connectMs: timeouts.connect ?? '3s',
      firstTokenMs: timeouts.firstToken ?? '20s',
      idleMs: timeouts.idle ?? '30s',
    },
    deployments: upstreams.map((_, index) => ({
      provider: `p${String(index + 1)}`,
      model: `upstream-${String(index + 1)}`,
      prices: { input: 2, cachedInput: 0.5, output: 8 },
    })),
  };
}

/** At the first provider only, without a price. */
function smallModel({ cacheTtl = '0s' }: CoordinatorOptions): object {
  const deployments = [{ provider: 'p1', model: 'upstream-small' }];
  return { name: 'small-model', contextWindow: 10_000, maxOutputTokens: 1_000, cacheTtlMs: cacheTtl, deployments };
}
