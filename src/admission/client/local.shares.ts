import type { Scope } from '../admission.store.js';
import { Displaced } from './claim.js';
import type { Ground } from './ground.js';
import { localShare } from './local.share.js';
import { ScopeClient } from './scope.client.js';

interface Share {
  readonly ground: Ground;
  readonly clients: Map<string, ScopeClient>;
}

/**
 * What this process lets in by itself while the shared store is away: of every limit its part. Each outage begins with an empty
 * store, which lets in at the pace of the limits, without a burst: nobody knows what was used just before.
 */
export class LocalShares {
  #current: Share | undefined;
  /** Of earlier outages: what was let in then is settled there. */
  #past: Share[] = [];

  constructor(
    private readonly pods: number,
    private readonly open: () => Ground,
  ) {}

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

  /** The shared store is back: who waits goes there. */
  end(): void {
    if (this.#current === undefined) return;
    for (const client of this.#current.clients.values()) client.turnAway(() => new Displaced('the store is back'));
    const isInUse = ({ clients }: Share): boolean => [...clients.values()].some((client) => !client.isIdle);
    this.#past = [...this.#past, this.#current].filter(isInUse);
    this.#current = undefined;
  }

  all(): readonly ScopeClient[] {
    const shares = this.#current === undefined ? this.#past : [...this.#past, this.#current];
    return shares.flatMap(({ clients }) => [...clients.values()]);
  }
}
