import type { ClientTimer } from '../../store/index.js';
import type { Rule, WindowUsage } from '../admission.store.js';

/** What one call wants of one scope, in the store's terms. */
export interface ClaimRequest {
  /** What the scope is to the caller of this module: `caller`, `deployment`. */
  readonly kind: string;
  readonly flow: string;
  readonly weight: number;
  readonly tokens: number;
  readonly microUsd: number;
  /** How long the call may take, ms: after it the reservation is booked as it is. */
  readonly holdMs: number;
  /** Whether its place is kept by its lease alone, and not by signs of life. */
  readonly isStrict: boolean;
}

/**
 * asking: the store has not answered yet · waiting: in the queue · granted: from its grant on · over: settled, cancelled, refused,
 * or given up
 */
export type ClaimState = 'asking' | 'waiting' | 'granted' | 'over';

/** What a claim waits for. */
interface Obstacle {
  readonly rule: Rule | undefined;
  /** By the knowledge of `toldAt`, from then on. */
  readonly inMs: number;
  /** By the local clock. */
  readonly toldAt: number;
  /** What was used of each window then. */
  readonly usage: readonly WindowUsage[];
}

/** To be called once, when a call is over: with the tokens that it took, or with nothing where it was never sent. */
export type CallEnd = (tokens?: number) => void;

/** What a store told of a scope when it was asked for room. */
export interface ToldRoom {
  /** By the local clock. */
  readonly at: number;
  /** At once. */
  readonly wasLetIn: boolean;
  readonly usage: readonly WindowUsage[];
}

/** One reservation in one scope, from its wish to its end. */
export class Claim {
  /** Resolves when its time has come; rejects with the refusal, {@link Displaced}, or what it was given up with. */
  readonly granted: Promise<void>;
  state: ClaimState = 'asking';
  /** By the store's clock. */
  atMs = 0;
  usage: readonly WindowUsage[] = [];
  /** Whoever wanted it has it. */
  isBegun = false;
  /** The store knows it no longer, although it was neither settled nor cancelled. */
  isGone = false;
  obstacle: Obstacle | undefined;
  /** When the last command that kept it alive was sent. */
  aliveAt: number;
  /** Its end of the wait, then its time, then the end of its hold. */
  timer: ClientTimer | undefined;
  grant: () => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  /** Its hold ended by itself, and it is booked as it was reserved. */
  onExpiry: () => void = () => undefined;
  /** Where it is counted in this process. */
  onEnd: CallEnd | undefined;

  /** @param until the end of its wait, by the local clock */
  constructor(
    readonly id: string,
    readonly request: ClaimRequest,
    readonly startedAt: number,
    readonly until: number,
  ) {
    this.aliveAt = startedAt;
    this.granted = new Promise((resolve, reject) => {
      this.grant = resolve;
      this.fail = reject;
    });
  }
}

/** A claim that must be made again: the store it was made to went away, came back, or has lost it. */
export class Displaced extends Error {
  override readonly name = 'Displaced';

  constructor(fact: string, options: { readonly cause?: unknown } = {}) {
    super(fact, options.cause === undefined ? undefined : { cause: options.cause });
  }
}
