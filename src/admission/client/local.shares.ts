import type { ScopeRules, WindowRule } from '../admission.rules.js';
import type { LearnedLimit, Scope, WindowUsage } from '../admission.store.js';
import type { Room } from '../memory/window.js';
import { type CallEnd, type ClaimRequest, Displaced, type ToldRoom } from './claim.js';
import type { Ground } from './ground.js';
import { learnedShare, localShare } from './local.share.js';
import type { LocalStore } from './local.store.js';
import { ScopeClient } from './scope.client.js';
import { longestSpanMs } from './scope.book.js';

export interface LocalSharesPorts {
  /** Among how many processes the limits are shared. */
  readonly pods: number;
  /** The local clock, ms. */
  readonly now: () => number;
  readonly local: LocalStore;
  /** With that store. */
  readonly ground: Ground;
  /** What the shared store told last of a scope. */
  readonly told: (scope: string) => ToldRoom | undefined;
}

/** How long lower limits hold that the store went by when it was heard last, ms. */
const LEARNED_MS = 180_000;
/** What of its part a process may use beyond what it has used itself, while nobody knows what the others have: a tenth, or one call. */
const SPARE = 0.1;
/** What was told within so long before the store was away, ms, or within a tenth of the window, holds. */
const FRESH_MS = 3_000;

/**
 * What this process lets in by itself while the shared store is away: of every limit its part, at the pace of that, without a burst:
 * nobody knows when the shared store is back, which has not counted it.
 *
 * What was let in before is still in the window when an outage begins. What this process has used itself it knows, and does not use
 * again before it is free; what is left of its part may be in use by others, until a window is over. Until then no process has more in a
 * window than it had when the outage began, but for the spare, and all of them together what the limit allowed; afterwards none has
 * more than its part.
 */
export class LocalShares {
  readonly #clients = new Map<string, ScopeClient>();
  /** The share of each scope; undefined: there is none. */
  readonly #shares = new WeakMap<Scope, { readonly share: Scope | undefined }>();
  /** Of each scope when a call was let in last. */
  readonly #granted = new Map<string, { readonly at: number; readonly rules: ScopeRules }>();
  #awayAt: number | undefined;
  /** The scopes that are in use since then. */
  readonly #used = new Set<string>();

  constructor(private readonly ports: LocalSharesPorts) {}

  /** The shared store has let a call in that may degrade. */
  begun(scope: Scope, request: ClaimRequest): CallEnd | undefined {
    const share = this.#shareOf(scope);
    return share && this.ports.local.begun(share, request);
  }

  /** A call was let in here. */
  granted({ name, rules }: Scope): void {
    this.#granted.set(name, { at: this.ports.now(), rules });
  }

  /** How long ago a call was let into that scope, ms; undefined: not within its longest window. */
  grantedMs({ name }: Scope): number | undefined {
    const last = this.#granted.get(name);
    if (last === undefined) return undefined;
    const agoMs = Math.max(0, Math.floor(this.ports.now() - last.at));
    if (agoMs < longestSpanMs(last.rules)) return agoMs;
    this.#granted.delete(name);
    return undefined;
  }

  /** The shared store is away from now on. */
  begin(): void {
    this.#awayAt = this.ports.now();
    this.#used.clear();
  }

  /**
   * @param tokens of the call that wants in
   * @returns undefined where nothing may be used without the shared store
   */
  clientFor(scope: Scope, tokens: number): ScopeClient | undefined {
    const share = this.#shareOf(scope);
    if (share === undefined) return undefined;
    const client = this.#clients.get(share.name) ?? new ScopeClient(share, this.ports.ground);
    this.#clients.set(share.name, client);
    if (this.#used.has(share.name)) return client;
    this.#used.add(share.name);
    // What an upstream told holds here as well.
    const learned = learnedShare(learnedIn(this.ports.told(share.name), scope.rules), this.ports.pods);
    if (learned.length > 0) void client.tell((line) => line.learn(learned, LEARNED_MS));
    this.#leaveToOthers(share, tokens);
    return client;
  }

  find(name: string): ScopeClient | undefined {
    return this.#clients.get(name);
  }

  /**
   * The shared store is back: who waits goes there.
   *
   * @returns of the scopes into which calls were let in lately the names, and for how long the last of them fills this process's part, ms
   */
  end(): ReadonlyMap<string, number> {
    for (const [name, client] of this.#clients) {
      client.turnAway(() => new Displaced('the store is back'));
      // What was let in is settled here.
      if (client.isIdle) this.#clients.delete(name);
    }
    this.#awayAt = undefined;
    this.#used.clear();
    const rests = new Map<string, number>();
    for (const [name, { at, rules }] of this.#granted) {
      if (this.ports.now() - at >= longestSpanMs(rules)) this.#granted.delete(name);
      else
        rests.set(name, Math.max(0, ...rules.windows.map(({ windowMs, requests = Infinity }) => windowMs / requests)));
    }
    return rests;
  }

  all(): readonly ScopeClient[] {
    return [...this.#clients.values()];
  }

  #shareOf(scope: Scope): Scope | undefined {
    let known = this.#shares.get(scope);
    if (known === undefined) {
      const rules = localShare(scope.rules, this.ports.pods);
      known = { share: rules && { name: scope.name, rules } };
      this.#shares.set(scope, known);
    }
    return known.share;
  }

  #leaveToOthers(share: Scope, tokens: number): void {
    const { now, told, local } = this.ports;
    const since = this.#awayAt ?? now();
    const last = told(share.name);
    local.leave(share, since, (rule) => {
      const spare = {
        requests: Math.max(1, Math.floor(SPARE * (rule.requests ?? 0))),
        tokens: Math.max(tokens, Math.floor(SPARE * (rule.tokens ?? 0))),
      };
      const isFresh = last !== undefined && since - last.at <= Math.max(FRESH_MS, rule.windowMs / 10);
      return isFresh ? this.#known(spare, rule, last.usage) : spare;
    });
  }

  /** No more than the part of what nobody had used. */
  #known({ requests, tokens }: Room, { windowMs }: WindowRule, windows: readonly WindowUsage[]): Room {
    const used = windows.find((window) => window.windowMs === windowMs);
    const part = (limit = Infinity, inUse = 0): number => Math.max(0, Math.floor((limit - inUse) / this.ports.pods));
    return {
      requests: Math.min(requests, part(used?.requestLimit, used?.requests)),
      tokens: Math.min(tokens, part(used?.tokenLimit, used?.tokens)),
    };
  }
}

/** The limits that a store went by which are lower than the rules. */
function learnedIn(told: ToldRoom | undefined, { windows }: ScopeRules): readonly LearnedLimit[] {
  const lower = (limit = Infinity, ours = Infinity): number | undefined => (limit < ours ? limit : undefined);
  return (told?.usage ?? []).flatMap(({ windowMs, requestLimit, tokenLimit }) => {
    const rule = windows.find((window) => window.windowMs === windowMs);
    const [requests, tokens] = [lower(requestLimit, rule?.requests), lower(tokenLimit, rule?.tokens)];
    return requests === undefined && tokens === undefined ? [] : [{ windowMs, requests, tokens }];
  });
}
