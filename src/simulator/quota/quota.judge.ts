import type { Demand } from './quota.account.js';
import { QuotaDesk, type QuotaVisit } from './quota.desk.js';
import { parseLimits, type QuotaLimits } from './quota.limits.js';
import { maskSecret } from '../traffic/secret.mask.js';

/** Stands for every model that has no limits of its own. */
export const ANY_MODEL = '*';

/** Desks that are kept whatever happens. Beyond them those at rest are forgotten, with their books. */
const MAX_DESKS = 1_000;

interface Keyed {
  readonly model: string;
  readonly key: string | undefined;
  readonly desk: QuotaDesk;
}

/**
 * The provider's quotas, as strict as can be, and their books, by model and key. Shares no code with what keeps a fleet inside of them.
 * Models are catalogue names.
 */
export class QuotaJudge {
  private readonly desks = new Map<string, Keyed>();
  private limits = new Map<string, QuotaLimits>();
  private sweepAt = MAX_DESKS;

  /** @param clock monotonic milliseconds */
  constructor(private readonly clock: () => number = () => performance.now()) {}

  /** The request has arrived now. */
  arrive(model: string, key: string | undefined, demand: Promise<Demand>): QuotaVisit {
    const name = JSON.stringify([model, key]);
    const known = this.desks.get(name);
    if (known !== undefined) return known.desk.arrive(demand);
    if (this.desks.size >= this.sweepAt) this.sweep();
    const desk = new QuotaDesk(this.limitsOf(model), this.clock);
    this.desks.set(name, { model, key, desk });
    return desk.arrive(demand);
  }

  /**
   * Sets limits by model, or {@link ANY_MODEL}; '' sets none. All keys' windows of these models begin empty.
   * @throws RangeError naming the fault; then nothing is changed.
   */
  limit(texts: Iterable<readonly [model: string, text: string]>): void {
    const given = new Map(Array.from(texts, ([model, text]) => [model, parsed(model, text)]));
    for (const [model, limits] of given) this.limits.set(model, limits);
    this.apply((model) => given.has(model) || (given.has(ANY_MODEL) && !this.limits.has(model)));
  }

  /** From now on there are no limits. */
  unlimit(): void {
    this.limits.clear();
    this.apply(() => true);
  }

  /** The limits as they were given. */
  list(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.limits].map(([model, { text }]) => [model, text]));
  }

  /** Opens new books. What lies on the windows and what runs stays. */
  async resetBooks(): Promise<void> {
    await Promise.all(Array.from(this.desks.values(), ({ desk }) => desk.resetBooks()));
  }

  /** For GET /stats: the books of each model and key, with everything that has happened so far. */
  toJson(): Promise<readonly object[]> {
    const books = Array.from(this.desks.values(), async ({ model, key, desk }) => ({
      model,
      key: key === undefined ? 'none' : maskSecret(key),
      ...(await desk.toJson()),
    }));
    return Promise.all(books);
  }

  private limitsOf(model: string): QuotaLimits {
    return this.limits.get(model) ?? this.limits.get(ANY_MODEL) ?? parseLimits('');
  }

  private apply(isChanged: (model: string) => boolean): void {
    for (const { model, desk } of this.desks.values()) {
      if (isChanged(model)) desk.limit(this.limitsOf(model));
    }
  }

  private sweep(): void {
    for (const [name, { desk }] of this.desks) {
      if (desk.isIdle) this.desks.delete(name);
    }
    // Where nothing was at rest, not again for each new key.
    this.sweepAt = Math.max(MAX_DESKS, this.desks.size * 2);
  }
}

function parsed(model: string, text: string): QuotaLimits {
  try {
    return parseLimits(text);
  } catch (error) {
    throw error instanceof RangeError
      ? new RangeError(`limits of ${model}: ${error.message}`, { cause: error })
      : error;
  }
}
