import type { BudgetRule, ScopeRules } from './admission.rules.js';

/**
 * The questions that admission asks of the store, each answered by one atomic script per scope. There are two implementations with
 * the same answers, state and messages: Lua on Redis, and one in this process.
 *
 * A scope is whatever has limits of its own: a deployment, a model, a caller. A reservation is taken before a call (acquire) and
 * settled once after it, or cancelled where the call was never sent; the same id may be used in several scopes. Every command may be
 * repeated after a lost answer. A reservation and a place in the queue live as long as their process gives signs of life
 * for them (beat), or until their lease ends.
 *
 * All times are milliseconds of the store's clock, which never steps back; `nowMs` of an answer relates them to a local clock.
 */
export interface AdmissionStore {
  /** Reserves, waits in the queue of the scope, or is refused with the rule that refuses; a refusal leaves nothing behind. */
  acquire(command: AcquireCommand): Promise<AcquireAnswer>;
  /** Books what the call took, once. What it took above its reservation is booked in full. */
  settle(command: SettleCommand): Promise<SettleAnswer>;
  /**
   * Gives a place in the queue up, or undoes a grant whose call was never sent: as if it had not been. The id is not to be used
   * again in this scope.
   */
  cancel(command: CancelCommand): Promise<CancelAnswer>;
  /**
   * Signs of life for ids that wait or were granted, and what became of each; lets in whose time has come. With no ids it only
   * does that. To be called every BEAT_MS for all ids, and when `pumpInMs` says so.
   */
  beat(command: BeatCommand): Promise<BeatAnswer>;
  /** No grant before so many ms are over: the upstream refused. What waits keeps its order. */
  hold(command: HoldCommand): Promise<ScopeNews>;
  /** Limits that the upstream told: for a while the smaller of these and the configured ones holds. Revokes nothing. */
  learn(command: LearnCommand): Promise<ScopeNews>;
  /** What is in use now. */
  inspect(scope: Scope): Promise<ScopeState>;
  /**
   * Notices for waiters of this process, in any order, late, twice or never. Resolves once subscribed.
   *
   * @param resumed called when the subscription was lost and is back: what was sent in between is gone
   */
  subscribe(process: string, receive: (message: AdmissionMessage) => void, resumed?: () => void): Promise<void>;
  /** Never fails. */
  unsubscribe(process: string): Promise<void>;
}

export interface Scope {
  /** Any text that is not empty, such as `deployment:openai/gpt` or `caller:acme`; escaped in the names of keys. */
  readonly name: string;
  readonly rules: ScopeRules;
  /** Scopes with the same one are asked together, where they are asked at the same moment: any text; its own name by default. */
  readonly slot?: string;
}

/** Of every command that changes something. */
export interface ScopeCommand {
  readonly scope: Scope;
  /** The process's name, which is also its channel: letters, digits, `-`, `_` and `.`, at most 64. */
  readonly process: string;
  /**
   * This process had an answer for this scope within its longest window: a store that knows nothing of it has lost its state, and
   * then lets in at the pace of the limits, without a burst.
   */
  readonly seen: boolean;
  /**
   * How long ago this process last let a call into this scope by its own share of the limits, ms; undefined: not within its longest
   * window. Until that call has left a window, the store lets in at the pace of the limits, without a burst, and in all processes:
   * it has not counted what the shares let in. As shares go at that pace as well, each window has its limit, once all processes have
   * noticed that the store is back; until then they hold() the scope. What is left: a process that died since its last such call.
   */
  readonly localMs?: number | undefined;
}

export interface AcquireCommand extends ScopeCommand {
  /** Unique per reservation in this scope: letters, digits, `-`, `_` and `.`, at most 64. An acquire with a known id finds itself. */
  readonly id: string;
  /** Whose call it is: flows share the scope by their weights, in a flow first come is first served. Any text. */
  readonly flow: string;
  /** Over 0, at most 1,000. */
  readonly weight: number;
  /** Estimated: prompt and the most that may be generated; whole. */
  readonly tokens: number;
  /** Estimated at most, micro-dollars; whole. 0 where the scope has no budget in USD. */
  readonly microUsd: number;
  /** How long it may wait; if that is not enough by what is known, it is refused at once. 0: it does not wait. */
  readonly waitMs: number;
  /**
   * How long the reservation, or the place in the queue, outlives its last sign of life: LEASE_MS where the process beats; the
   * call's hard timeout for strict slots, which are not to be freed while a frozen process may still be calling.
   */
  readonly leaseMs: number;
}

export type AcquireAnswer = ScopeNews &
  (
    | {
        readonly kind: 'granted';
        /** When it may be sent, a little in the future at most, and not later than sendWithinMs() after it. */
        readonly atMs: number;
        readonly usage: readonly WindowUsage[];
      }
    | {
        readonly kind: 'waiting';
        /** By what was known when it came. */
        readonly inMs: number;
        /** What made it wait then; undefined where the limits have changed since. */
        readonly rule: Rule | undefined;
        readonly usage: readonly WindowUsage[];
      }
    | Refusal
    /** It was cancelled before this acquire arrived. */
    | { readonly kind: 'cancelled' }
  );

export interface Refusal {
  /** `never`: the call is larger than the limit, whatever else happens. */
  readonly kind: 'refused' | 'never';
  readonly rule: Rule;
  /** When the same call would be let in by present knowledge, ms from now, nothing being reserved for it; 0 for `never`. */
  readonly inMs: number;
  /** False where that depends on how long open calls take. */
  readonly isExact: boolean;
  readonly usage: readonly WindowUsage[];
}

/** What stands against a call. */
export type Rule =
  | { readonly kind: 'requests' | 'tokens'; readonly windowMs: number; readonly limit: number }
  | { readonly kind: 'slots'; readonly limit: number }
  | ({ readonly kind: 'budget' } & BudgetRule)
  /** The upstream asked for a pause. */
  | { readonly kind: 'hold' };

/** With this command's own reservation, by the limits in force. */
export interface WindowUsage {
  readonly windowMs: number;
  readonly requests: number;
  readonly requestLimit: number | undefined;
  readonly tokens: number;
  readonly tokenLimit: number | undefined;
}

export interface SettleCommand extends ScopeCommand {
  readonly id: string;
  /** What the call took, by the provider's usage where it came; whole. */
  readonly tokens: number;
  readonly microUsd: number;
}

export type SettleAnswer = ScopeNews & {
  /** `gone`: settled before, by this process or because its lease ended. `waiting`: it was never granted, nothing was booked. */
  readonly kind: 'settled' | 'gone' | 'waiting';
};

export interface CancelCommand extends ScopeCommand {
  readonly id: string;
}

export type CancelAnswer = ScopeNews & {
  /** What it was. `unknown`: settled, cancelled or never there. An acquire that is still on its way is answered `cancelled`. */
  readonly kind: 'granted' | 'waiting' | 'unknown';
};

export interface BeatCommand extends ScopeCommand {
  /** At most MOST_BEATEN. */
  readonly ids: readonly string[];
}

export type BeatAnswer = ScopeNews & {
  /** By the order of `ids`. */
  readonly places: readonly Place[];
};

export type Place =
  { readonly kind: 'granted'; readonly atMs: number } | { readonly kind: 'waiting' } | { readonly kind: 'gone' };

export interface HoldCommand extends ScopeCommand {
  readonly forMs: number;
}

export interface LearnCommand extends ScopeCommand {
  readonly limits: readonly LearnedLimit[];
  readonly forMs: number;
}

/** For the window of this length; where the scope has none, nothing is learned. */
export interface LearnedLimit {
  readonly windowMs: number;
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
}

/** What a command brings besides its own answer. */
export interface ScopeNews {
  readonly nowMs: number;
  /** This process is the one that sends a beat in so many ms, whether it waits itself or not; undefined: it is not. */
  readonly pumpInMs: number | undefined;
  /** Of waiters of this process that this command let in or let go; others hear of theirs by message. */
  readonly notices: readonly Notice[];
  /** What this command booked on budgets, be it on behalf of a process that died: one for each budget of the scope, or none. */
  readonly bookings: readonly Booking[];
}

/** `lapsed`: it waits no longer, since its time is over or the limits are now too small for it; nothing is reserved. */
export type Notice =
  | { readonly kind: 'granted'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'lapsed'; readonly id: string };

/** Every micro-dollar and token is in exactly one booking of the fleet: who sees a threshold between the two is the only one. */
export interface Booking extends BudgetRule {
  readonly spentBefore: number;
  readonly spentAfter: number;
}

export interface AdmissionMessage {
  /** The name of the scope. */
  readonly scope: string;
  readonly nowMs: number;
  readonly notices: readonly Notice[];
}

/** For operators, headers and `/v1/usage`. */
export interface ScopeState {
  readonly nowMs: number;
  readonly windows: readonly WindowUsage[];
  /** Granted and not settled. */
  readonly open: number;
  readonly concurrency: number | undefined;
  readonly queued: number;
  /** Of open calls and waiters. */
  readonly reserved: { readonly microUsd: number; readonly tokens: number };
  readonly budgets: readonly (BudgetRule & { readonly spent: number; readonly endsAtMs: number })[];
  /** How long the upstream asked to be left alone, ms; 0: not at all. */
  readonly heldForMs: number;
}

/** How often a process gives signs of life for all its ids, ms. */
export const BEAT_MS = 3_000;
/** How long a reservation outlives its last sign of life, ms: a dead process's capacity is back within 10 s. */
export const LEASE_MS = 9_000;
/** How often a process that has waiters asks for those that wait longer than that, ms: a lost message costs no more. */
export const POLL_MS = 1_000;
export const MOST_BEATEN = 200;
