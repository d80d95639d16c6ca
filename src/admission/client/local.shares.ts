import type { Scope } from '../admission.store.js';
import { Displaced } from './claim.js';
import type { Ground } from './ground.js';
import { localShare } from './local.share.js';
import { ScopeClient } from './scope.client.js';
import { longestSpanMs } from './scope.book.js';

interface Share {
  readonly ground: Ground;
  readonly clients: Map<string, ScopeClient>;
}

/**
 * What this process lets in by itself while the shared store is away: of every limit its part. Each outage begins with an empty
 * store, which lets in at the pace of the limits, without a burst: nobody knows what was used just before, nor when the shared store
 * is back, which has not counted it.
 */
export class LocalShares {
  #current: Share | undefined;
  /** Of earlier outages: what was let in then is settled there. */
  #past: Share[] = [];
  /** Of each scope when a call was let in last, and for how long that matters, ms. */
  readonly #granted = new Map<string, { readonly at: number; readonly spanMs: number }>();

  constructor(
    private readonly pods: number,
    private readonly now: () => number,
    private readonly open: () => Ground,
  ) {}

  /** A call was let in. */
  granted({ name, rules }: Scope): void {
    this.#granted.set(name, { at: this.now(), spanMs: longestSpanMs(rules) });
  }

  /** How long ago a call was let into that scope, ms; undefined: not within its longest window. */
  grantedMs({ name }: Scope): number | undefined {
    const last = this.#granted.get(name);
    if (last === undefined) return undefined;
    const agoMs = Math.max(0, Math.floor(this.now() - last.at));
    if (agoMs < last.spanMs) return agoMs;
    this.#granted.delete(name);
    return undefined;
  }

  /** @returns undefined where nothing may be used without the shared store */
  clientFor(scope: Scope): ScopeClient | undefined {
    const rules = localShare(scope.rules, this.pods);
    if (rules === undefined) return undefined;
    this.#current ??= { ground: this.open(), clients: new Map() };
    const { ground, clients } = this.#current;
    const client = clients.get(scope.name) ?? new ScopeClient({ name: scope.name, rules }, ground);
    clients.set(scope.name, client);
    return client;
  }

  find(name: string): ScopeClient | undefined {
    return this.#current?.clients.get(name);
  }

  /** The shared store is back: who waits goes there. @returns the names of the scopes into which calls were let in lately */
  end(): readonly string[] {
    for (const [name, { at, spanMs }] of this.#granted) if (this.now() - at >= spanMs) this.#granted.delete(name);
    this.#endCurrent();
    return [...this.#granted.keys()];
  }

  all(): readonly ScopeClient[] {
    const shares = this.#current === undefined ? this.#past : [...this.#past, this.#current];
    return shares.flatMap(({ clients }) => [...clients.values()]);
  }

  #endCurrent(): void {
    if (this.#current === undefined) return;
    for (const client of this.#current.clients.values()) client.turnAway(() => new Displaced('the store is back'));
    const isInUse = ({ clients }: Share): boolean => [...clients.values()].some((client) => !client.isIdle);
    this.#past = [...this.#past, this.#current].filter(isInUse);
    this.#current = undefined;
  }
}
