import type { ScopeRules } from '../admission.rules.js';
import type { Scope } from '../admission.store.js';
import type { ScopeClient } from './scope.client.js';

interface ScopeRecord {
  readonly scope: Scope;
  readonly client: ScopeClient;
  /** When an answer for it came last, from whichever store. */
  heardAt: number;
}

/** How many of the least recently used are looked at for each new one: twice what comes, so what is over goes. */
const LOOKED_AT = 2;

/** The scopes of the shared store that this process uses, or has used within their longest window. */
export class ScopeBook {
  /** Least recently used first. */
  readonly #records = new Map<string, ScopeRecord>();

  constructor(
    private readonly now: () => number,
    private readonly open: (scope: Scope) => ScopeClient,
  ) {}

  clientFor(scope: Scope): ScopeClient {
    const known = this.#records.get(scope.name);
    if (known === undefined) this.#forgetSome();
    const record = known ?? { scope, client: this.open(scope), heardAt: -Infinity };
    this.#records.delete(scope.name);
    this.#records.set(scope.name, record);
    return record.client;
  }

  find(name: string): ScopeClient | undefined {
    return this.#records.get(name)?.client;
  }

  all(): readonly ScopeClient[] {
    return [...this.#records.values()].map(({ client }) => client);
  }

  heard({ name }: Scope): void {
    const record = this.#records.get(name);
    if (record !== undefined) record.heardAt = this.now();
  }

  /** Whether there was an answer for it within its longest window: a store that knows nothing of it has then lost it. */
  hasSeen({ name }: Scope): boolean {
    const record = this.#records.get(name);
    return record !== undefined && !this.#isForgotten(record);
  }

  #forgetSome(): void {
    for (const [name, record] of [...this.#take(LOOKED_AT)]) {
      this.#records.delete(name);
      if (!record.client.isIdle || !this.#isForgotten(record)) this.#records.set(name, record);
    }
  }

  *#take(count: number): Generator<[string, ScopeRecord]> {
    let left = count;
    for (const entry of this.#records) {
      if (left === 0) return;
      left -= 1;
      yield entry;
    }
  }

  #isForgotten({ scope, heardAt }: ScopeRecord): boolean {
    return this.now() - heardAt >= longestSpanMs(scope.rules);
  }
}

/** How long what was let in may matter, ms; 0 without windows. */
export function longestSpanMs({ windows }: ScopeRules): number {
  return Math.max(0, ...windows.map(({ spanMs }) => spanMs));
}
