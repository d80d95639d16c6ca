import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { AbortListeners, type ClientEnvironment, type ClientTimer, guardedObserver } from '../store/index.js';
import { LockClient } from './client/lock.client.js';
import { StoreLine } from './client/store.line.js';
import type { Hold } from './hold.js';
import { type LeaseEnd, LockClosedError, LockStoreError } from './lock.errors.js';
import { KeyTemplates, type LockObserver, type WaitOutcome } from './lock.observer.js';
import type { LockStore } from './lock.store.js';
import { Waiting, type Wish } from './waiting.js';

export interface LockProcessOptions {
  readonly environment: ClientEnvironment;
  readonly observer: LockObserver;
  /** How long holders may go on after the shutdown began, ms. */
  readonly graceMs: number;
}

/** How long aborted work may take to end before its locks are taken from it, ms: with no grace, a lock is free within a second. */
const ABORT_MS = 500;
/** Until a subscription that failed is tried again for those who wait, ms. */
const RESUBSCRIBE_MS = 200;
/** How long the store may take to confirm the last releases, ms; a lease that it does not hear of ends by itself. */
const CONFIRM_MS = 2_000;

/** What this process waits for and holds, and how it lets go of all of it. */
export class LockProcess {
  readonly client: LockClient;
  readonly line: StoreLine;
  readonly #observer: LockObserver;
  readonly #templates = new KeyTemplates();
  readonly #signals = new AbortListeners();
  readonly #waiting = new Set<Waiting>();
  readonly #holds = new Set<Hold>();
  #subscription: Promise<void> | undefined;
  #resubscription: ClientTimer | undefined;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(
    private readonly store: LockStore,
    private readonly options: LockProcessOptions,
  ) {
    this.#observer = guardedObserver(options.observer, 'locks');
    this.line = new StoreLine(store, options.environment);
    this.client = new LockClient(freshName(), options.environment, this.line);
  }

  /**
   * Waits for one key.
   * @param earlier keys of the same wish: when one is lost, the wait is over
   * @throws LockClosedError, the signal's reason, and what Waiting throws
   */
  async take(wish: Wish, earlier: readonly Hold[]): Promise<Hold> {
    const { signal } = wish.options;
    if (this.#closing !== undefined) throw new LockClosedError();
    signal?.throwIfAborted();
    this.#subscribe();
    const waiting = this.#wait(wish);
    const giveUp = (reason: unknown): void => {
      waiting.giveUp(reason);
    };
    const deafen = signal === undefined ? undefined : this.#signals.add(signal, giveUp);
    const silences = earlier.map((hold) => hold.onAlarm(giveUp));
    try {
      return await waiting.hold;
    } finally {
      this.#waiting.delete(waiting);
      deafen?.();
      for (const silence of silences) silence();
    }
  }

  /** Takes no more, rejects who waits, lets holders finish up to the grace, aborts the rest, releases all, and confirms. */
  close(graceMs = this.options.graceMs): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    this.#resubscription?.cancel();
    for (const waiting of this.#waiting) waiting.giveUp(new LockClosedError());
    await this.#idle(graceMs);
    for (const hold of this.#holds) hold.alarm('closing');
    await this.#idle(ABORT_MS);
    for (const hold of this.#holds) hold.takeAway();
    await this.#within(CONFIRM_MS, (done) => {
      this.client.whenQuiet(done);
    });
    this.client.stop();
    try {
      if (this.#subscription !== undefined) await this.#unsubscribe();
    } finally {
      this.line.stop();
    }
  }

  async #unsubscribe(): Promise<void> {
    try {
      await this.line.ask(() => this.store.unsubscribe(this.client.process));
    } catch (error) {
      // Without an answer the subscription ends with the connection; anything else no store may do.
      if (!(error instanceof LockStoreError)) throw error;
    }
  }

  #wait(wish: Wish): Waiting {
    const { environment } = this.options;
    const observer = this.#observer;
    const template = this.#templates.of(wish.options.template);
    const startedAt = environment.now();
    let heldAt = startedAt;
    observer.waiting(template, 1);
    const waiting = new Waiting(this.client, environment, wish, {
      over: (outcome: WaitOutcome, isContended: boolean) => {
        heldAt = environment.now();
        observer.waiting(template, -1);
        observer.waited(template, { outcome, isContended, waitMs: heldAt - startedAt });
      },
      held: (hold) => {
        this.#holds.add(hold);
      },
      ended: (hold: Hold, end: LeaseEnd) => {
        this.#holds.delete(hold);
        observer.held(template, { end, holdMs: environment.now() - heldAt });
        if (this.#holds.size === 0) this.#onIdle?.();
      },
    });
    this.#waiting.add(waiting);
    return waiting;
  }

  /**
   * Once, and again where it failed; what was told before it stands, and while it is lost, is asked for. Until it stands only the
   * beats bring grants, and each of them has all who wait for that lock wait for half a second: so it is tried again by itself.
   */
  #subscribe(): void {
    const askAnew = (): void => {
      this.client.askAnew();
    };
    this.#subscription ??= this.store
      .subscribe(
        this.client.process,
        (message) => {
          this.client.receive(message);
        },
        askAnew,
      )
      .then(askAnew)
      .catch(() => {
        this.#subscription = undefined;
        this.#subscribeLater();
      });
  }

  #subscribeLater(): void {
    if (this.#closing !== undefined) return;
    this.#resubscription?.cancel();
    this.#resubscription = this.options.environment.after(RESUBSCRIBE_MS, () => {
      if (this.#waiting.size + this.#holds.size > 0) this.#subscribe();
    });
  }

  async #idle(limitMs: number): Promise<void> {
    if (this.#holds.size === 0) return;
    await this.#within(limitMs, (done) => {
      this.#onIdle = done;
    });
    this.#onIdle = undefined;
  }

  #within(limitMs: number, start: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.options.environment.after(limitMs, resolve);
      start(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

/** The machine's name, which in Kubernetes is the pod's, so that an operator finds the process, and what makes it another one after each start. */
function freshName(): string {
  return `${hostname()}-${randomBytes(6).toString('hex')}`;
}
