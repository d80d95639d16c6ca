import type { BeforeApplicationShutdown } from '@nestjs/common';
import { BriefMap, type ClientEnvironment, guardedObserver, nodeEnvironment } from '../store/index.js';
import {
  AdmissionBudgetError,
  AdmissionBusyError,
  AdmissionClosedError,
  AdmissionOverloadedError,
  AdmissionStoreError,
  AdmissionTooLargeError,
  storeErrorOf,
} from './admission.errors.js';
import { type AdmissionObserver, type AdmissionOutcome, SILENT_ADMISSION_OBSERVER } from './admission.observer.js';
import { checkWhole, type ResolvedWish, resolveWish, type Wish } from './admission.options.js';
import type { AdmissionStore, LearnedLimit, Scope, ScopeState } from './admission.store.js';
import { AdmissionProcess } from './client/admission.process.js';
import { learnedShare } from './client/local.share.js';
import type { StoreState } from './client/store.watch.js';
import type { Taken } from './client/taken.js';
import { Tenancy } from './client/tenancy.js';
import { Reservation } from './reservation.js';

export interface AdmissionServiceOptions {
  /** Among how many processes the limits are shared while the store is away. Default 1. */
  readonly pods?: number;
  /** How many calls of this process may wait for one scope; more are refused as overload. Default 5 000. */
  readonly mostWaitingPerScope?: number;
  /** The same for all scopes together. Default 10 000. */
  readonly mostWaiting?: number;
  /** How long open reservations may still be settled after the shutdown began, ms. Default 10 000. */
  readonly graceMs?: number;
  /** Default: nobody looks. */
  readonly observer?: AdmissionObserver;
  /** Time, timers and chance; the real ones by default. */
  readonly environment?: ClientEnvironment;
}

/** `silent`: it failed a moment ago · `away`: for longer; each wish is served by its rule for that. */
export interface AdmissionHealth {
  readonly store: StoreState;
  /** How long the store has not answered, ms; 0 while it does. */
  readonly downForMs: number;
}

/** How long the store may take to confirm how the last reservations ended, ms; what it does not hear of ends with its lease. */
const CONFIRM_MS = 2_000;

/**
 * Lets calls in, within the limits that all processes on one store share: requests and tokens per window, calls at a time, budgets.
 *
 * While the store is away each wish is served by its own rule, and what was reserved before is settled when it is back.
 */
export class AdmissionService implements BeforeApplicationShutdown {
  readonly #process: AdmissionProcess;
  readonly #environment: ClientEnvironment;
  readonly #observer: AdmissionObserver;
  readonly #graceMs: number;
  readonly #open = new BriefMap<string, Tenancy>();
  #onIdle: () => void = () => undefined;
  #closing: Promise<void> | undefined;

  /** @throws AdmissionOptionsError if an option is no good */
  constructor(
    private readonly store: AdmissionStore,
    options: AdmissionServiceOptions = {},
  ) {
    const { pods = 1, mostWaitingPerScope = 5_000, mostWaiting = 10_000, graceMs = 10_000 } = options;
    const { observer = SILENT_ADMISSION_OBSERVER, environment = nodeEnvironment() } = options;
    checkWhole('pods', pods, 1);
    checkWhole('mostWaitingPerScope', mostWaitingPerScope, 1);
    checkWhole('mostWaiting', mostWaiting, 1);
    checkWhole('graceMs', graceMs, 0);
    this.#environment = environment;
    this.#observer = guardedObserver(observer, 'admission');
    this.#graceMs = graceMs;
    this.#process = new AdmissionProcess(store, {
      environment,
      observer: this.#observer,
      pods,
      mostWaitingPerScope,
      mostWaiting,
    });
  }

  /** Known without asking. */
  get health(): AdmissionHealth {
    const { state, downForMs } = this.#process.watch;
    return { store: state, downForMs };
  }

  /**
   * Reserves room for one call in one scope; settle() or cancel() must follow on every way out. A scope without limits costs no
   * command.
   *
   * @throws AdmissionBusyError: no room within the wait · AdmissionTooLargeError: never · AdmissionBudgetError ·
   *   AdmissionOverloadedError: too many wait · AdmissionStoreError · AdmissionClosedError · AdmissionOptionsError · the signal's
   *   reason
   */
  async reserve(wish: Wish): Promise<Reservation> {
    return this.#reserve(resolveWish(wish));
  }

  /**
   * Reserves room for one call in several scopes by one round trip, where all of them have it at this moment.
   *
   * @returns by the order of the wishes; undefined: nothing is reserved, and reserve() tells, for one scope after the other, why not or
   *   for how long to wait
   * @throws AdmissionClosedError · AdmissionOptionsError · the signal's reason
   */
  async reserveAtOnce(wishes: readonly Wish[]): Promise<readonly Reservation[] | undefined> {
    const resolved = wishes.map(resolveWish);
    if (resolved.some(({ isUnlimited }) => isUnlimited)) return undefined;
    const taken = await this.#process.takeAtOnce(resolved);
    return taken?.map((each) => this.#granted(each, 0));
  }

  /** What is used, reserved and waited for. @throws AdmissionStoreError */
  async inspect(scope: Scope): Promise<ScopeState> {
    try {
      return await this.#process.line.ask((store) => store.inspect(scope));
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  /** The upstream asked for a pause: nothing is granted for so long, in any process that can be told. Never rejects. */
  hold(scope: Scope, forMs: number): Promise<void> {
    return this.#process.tell(scope, (line) => line.hold(Math.ceil(forMs)));
  }

  /** The upstream told its limits: where they are smaller, they hold for so long. Never rejects. */
  learn(scope: Scope, limits: readonly LearnedLimit[], forMs: number): Promise<void> {
    return this.#process.tell(scope, (line, pods) => line.learn(learnedShare(limits, pods), Math.ceil(forMs)));
  }

  /**
   * Ends the part of this process: nothing is let in any more, who waits gets AdmissionClosedError, open reservations may be settled
   * up to the grace; then what was sent is booked as reserved, and the rest undone. Resolves when the store has confirmed; nothing is
   * left behind. Never rejects.
   *
   * @param graceMs what is left of the process's grace where others have had a part of it; the first call decides
   */
  close(graceMs = this.#graceMs): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  /** Before the store's connections close. */
  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    this.#process.refuse();
    if (this.#open.size > 0) {
      const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
      await this.#within(graceMs, idle);
    }
    for (const tenancy of this.#open.values()) tenancy.abandon();
    await this.#within(CONFIRM_MS, this.#process.quiet());
    await this.#process.stop();
  }

  async #reserve(wish: ResolvedWish): Promise<Reservation> {
    const { kind, tokens, microUsd } = wish.request;
    const startedAt = this.#environment.now();
    const since = (): number => Math.max(0, Math.round(this.#environment.now() - startedAt));
    if (wish.isUnlimited) {
      if (this.#closing !== undefined) throw new AdmissionClosedError();
      const free = { queueMs: 0, isLocal: false, usage: [] };
      return new Reservation(UNLIMITED, { kind, tokens, microUsd, scope: wish.scope.name, ...free });
    }
    this.#observer.waiting(kind, 1);
    try {
      return this.#granted(await this.#process.take(wish, startedAt + wish.waitMs), since());
    } catch (error) {
      this.#observer.decided(kind, {
        outcome: outcomeOf(error),
        queueMs: since(),
        isLocal: this.health.store === 'away',
      });
      throw error;
    } finally {
      this.#observer.waiting(kind, -1);
    }
  }

  #granted(taken: Taken, queueMs: number): Reservation {
    const { client, claim } = taken;
    const { kind, tokens, microUsd } = claim.request;
    const { isLocal } = client.ground;
    this.#observer.decided(kind, { outcome: 'granted', queueMs, isLocal });
    const facts = { kind, tokens, microUsd, scope: client.scope.name, queueMs, isLocal, usage: claim.usage };
    return new Reservation(this.#tenancy(taken), facts);
  }

  #tenancy(taken: Taken): Tenancy {
    const tenancy = new Tenancy(taken, {
      observer: this.#observer,
      now: () => this.#environment.now(),
      ended: () => {
        this.#open.delete(taken.claim.id);
        if (this.#open.size === 0) this.#onIdle();
      },
    });
    this.#open.set(taken.claim.id, tenancy);
    return tenancy;
  }

  #within(limitMs: number, done: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#environment.after(limitMs, resolve);
      void done.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

const UNLIMITED = {
  isInTime: () => true,
  sent: () => undefined,
  settle: () => Promise.resolve(),
  cancel: () => Promise.resolve(),
};

const OUTCOMES = [
  [AdmissionBusyError, 'busy'],
  [AdmissionTooLargeError, 'too_large'],
  [AdmissionBudgetError, 'budget'],
  [AdmissionOverloadedError, 'overloaded'],
  [AdmissionStoreError, 'store'],
] as const;

function outcomeOf(error: unknown): AdmissionOutcome {
  return OUTCOMES.find(([type]) => error instanceof type)?.[1] ?? 'given_up';
}
