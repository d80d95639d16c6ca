import { randomUUID } from 'node:crypto';
import { AbortListeners, type ClientEnvironment } from '../../store/index.js';
import {
  AdmissionClosedError,
  AdmissionOverloadedError,
  AdmissionStoreError,
  storeErrorOf,
} from '../admission.errors.js';
import type { AdmissionObserver } from '../admission.observer.js';
import type { ResolvedWish } from '../admission.options.js';
import type { AdmissionMessage, AdmissionStore, Scope, ScopeNews } from '../admission.store.js';
import { Displaced, type ToldRoom } from './claim.js';
import type { Ground } from './ground.js';
import { LocalShares } from './local.shares.js';
import { LocalStore } from './local.store.js';
import { Patience } from './patience.js';
import { ScopeClient } from './scope.client.js';
import type { ScopeLine } from './scope.line.js';
import { ScopeBook } from './scope.book.js';
import { StoreLine } from './store.line.js';
import { isOutage, StoreWatch } from './store.watch.js';
import { Subscription } from './subscription.js';
import { allOrNone, type Taken } from './taken.js';

export interface AdmissionProcessOptions {
  readonly environment: ClientEnvironment;
  readonly observer: AdmissionObserver;
  /** Among how many processes the limits are shared then. */
  readonly pods: number;
  readonly mostWaitingPerScope: number;
  readonly mostWaiting: number;
}

/** A claim is made at most so often for one wish: whatever displaces it more often is a fault. */
const MOST_CLAIMS = 100;
/** How long after one process another one may notice that the store is back, ms: a look, and another that was under way. */
const NOTICED_MS = 500;
/** What a wish that was turned away for the crowd should wait, ms. */
const OVERLOAD_MS = 1_000;

/** What this process wants and has of all scopes, with or without the shared store. */
export class AdmissionProcess {
  readonly name = randomUUID();
  readonly watch: StoreWatch;
  readonly line: StoreLine;
  readonly #signals = new AbortListeners();
  readonly #scopes: ScopeBook;
  readonly #shares: LocalShares;
  readonly #patience: Patience;
  readonly #subscription: Subscription;
  #waiting = 0;
  #claims = 0;
  #isClosed = false;

  constructor(
    store: AdmissionStore,
    private readonly options: AdmissionProcessOptions,
  ) {
    const { environment, observer, pods } = options;
    const now = (): number => environment.now();
    this.line = new StoreLine(store, environment);
    this.watch = new StoreWatch(environment, {
      lost: (error) => {
        observer.storeLost(error);
      },
      away: () => {
        this.#shares.begin();
        for (const client of this.#scopes.all()) client.turnAway(() => new Displaced('the store is away'));
        observer.storeAway();
      },
      back: (downForMs) => {
        const rests = this.#shares.end();
        this.#resume();
        // Before anybody finds room there that was used here, or is while others do not know yet that it is back.
        for (const [name, restMs] of rests) {
          void this.#scopes.find(name)?.tell((line) => line.hold(NOTICED_MS + restMs));
        }
        observer.storeBack(downForMs);
      },
    });
    this.#patience = new Patience(this.watch);
    this.#subscription = new Subscription(environment, {
      subscribe: () => store.subscribe(this.name, this.#receive, this.#resume),
      stands: this.#resume,
      isWanted: () => this.#scopes.all().some((client) => !client.isIdle),
    });
    const shared = this.#ground(false, this.line);
    this.#scopes = new ScopeBook(now, (scope) => new ScopeClient(scope, shared));
    const local = new LocalStore(now);
    const ground = this.#ground(true, new StoreLine(local.store, environment));
    const told = (name: string): ToldRoom | undefined => this.#scopes.find(name)?.told;
    this.#shares = new LocalShares({ pods, now, local, ground, told });
  }

  /**
   * Waits for one claim.
   * @param until the end of the wait, by the local clock
   * @throws the refusal, AdmissionOverloadedError, AdmissionStoreError, AdmissionClosedError, or the signal's reason
   */
  async take(wish: ResolvedWish, until: number): Promise<Taken> {
    this.#assertOpen(wish.signal);
    this.#assertRoom(this.#waiting, this.options.mostWaiting, wish);
    let fault: unknown;
    this.#waiting += 1;
    try {
      for (let claims = 0; claims < MOST_CLAIMS; claims += 1) {
        const client = await this.#clientFor(wish, fault);
        this.#assertRoom(client.waiting, this.options.mostWaitingPerScope, wish);
        try {
          return await this.#claim(client, wish, until);
        } catch (error) {
          if (!(error instanceof Displaced)) throw error;
          fault = error.cause;
        }
      }
      throw new AdmissionStoreError('its answers contradict each other', { cause: fault });
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * As take(), without a wait, in several scopes at once: in all or in none. Not where the last who asked found no room: who is refused
   * in one scope must not take room from others in the next, again and again.
   */
  async takeAtOnce(wishes: readonly ResolvedWish[]): Promise<readonly Taken[] | undefined> {
    const places = wishes.map((wish) => ({ wish, client: this.#scopes.clientFor(wish.scope) }));
    const isPromising = places.every(
      ({ client }) => client.told?.wasLetIn !== false && client.waiting < this.options.mostWaitingPerScope,
    );
    if (!isPromising || this.watch.state !== 'up' || this.#isClosed) return undefined;
    const until = this.options.environment.now();
    const taken = await allOrNone(places.map(({ wish, client }) => this.#claim(client, wish, until)));
    if (taken === undefined) for (const { signal } of wishes) this.#assertOpen(signal);
    return taken;
  }

  /** Tells of a scope what was learned outside, wherever its claims are made now, and for so many processes. Never rejects. */
  async tell(scope: Scope, say: (line: ScopeLine, pods: number) => Promise<unknown>): Promise<void> {
    const isUp = this.watch.state === 'up';
    const client = isUp ? this.#scopes.clientFor(scope) : this.#shares.find(scope.name);
    // A hint: whoever runs into the same limit again tells it again.
    await client?.tell((line) => say(line, isUp ? 1 : this.options.pods));
  }

  /** Takes no more, and ends every wait. */
  refuse(): void {
    this.#isClosed = true;
    this.#subscription.close();
    this.#patience.end();
    for (const client of this.#clients()) client.turnAway(() => new AdmissionClosedError());
  }

  /** Resolves once the store has heard how everything ended. */
  async quiet(): Promise<void> {
    await Promise.all(this.#clients().map((client) => client.quiet()));
  }

  /** Stops every timer, and ends the subscription. Never rejects. */
  async stop(): Promise<void> {
    this.watch.stop();
    for (const client of this.#clients()) client.stop();
    if (this.#subscription.isBegun) {
      await this.line.ask((store) => store.unsubscribe(this.name)).catch(ignoreSilence);
    }
    this.line.stop();
  }

  async #claim(client: ScopeClient, { request, signal, whenStoreDown }: ResolvedWish, until: number): Promise<Taken> {
    if (!client.ground.isLocal) this.#subscription.begin();
    this.#claims += 1;
    const claim = client.claim(`${this.name}-${this.#claims.toString(36)}`, request, until);
    const deafen =
      signal &&
      this.#signals.add(signal, (reason) => {
        client.giveUp(claim, reason);
      });
    try {
      await claim.granted;
    } finally {
      deafen?.();
    }
    if (client.ground.isLocal) this.#shares.granted(client.scope);
    // It was given up between its grant and now.
    if (claim.state === 'over') this.#assertOpen(signal);
    else if (!client.ground.isLocal && whenStoreDown === 'degrade')
      claim.onEnd = this.#shares.begun(client.scope, request);
    return { client, claim };
  }

  /** @param fault why the last claim came to nothing */
  async #clientFor(wish: ResolvedWish, fault: unknown): Promise<ScopeClient> {
    const { scope, request, signal } = wish;
    const isDamaged = fault !== undefined && !isOutage(fault);
    while (this.watch.state === 'silent' && !isDamaged) {
      await this.#patience.wait(signal);
      this.#assertOpen(signal);
    }
    if (this.watch.state === 'up' && !isDamaged) return this.#scopes.clientFor(scope);
    const share = wish.whenStoreDown === 'degrade' ? this.#shares.clientFor(scope, request.tokens) : undefined;
    if (share === undefined) throw storeErrorOf(fault ?? this.watch.error);
    return share;
  }

  #assertOpen(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new AdmissionClosedError();
  }

  #assertRoom(waiting: number, most: number, { scope, request }: ResolvedWish): void {
    if (waiting < most) return;
    throw new AdmissionOverloadedError({ kind: request.kind, scope: scope.name }, waiting, OVERLOAD_MS);
  }

  #ground(isLocal: boolean, line: StoreLine): Ground {
    const { environment, observer } = this.options;
    return {
      environment,
      line,
      isLocal,
      process: this.name,
      hasSeen: (scope) => isLocal || this.#scopes.hasSeen(scope),
      localMs: (scope) => (isLocal ? 0 : this.#shares.grantedMs(scope)),
      heard: (scope, { bookings }: ScopeNews) => {
        this.#scopes.heard(scope);
        for (const booking of bookings) observer.booked(scope.name, booking);
      },
      failed: (error, again) => {
        if (!isLocal) this.watch.failed(error, again);
      },
    };
  }

  #clients(): readonly ScopeClient[] {
    return [...this.#scopes.all(), ...this.#shares.all()];
  }

  readonly #receive = (message: AdmissionMessage): void => {
    this.#scopes.find(message.scope)?.receive(message);
  };

  readonly #resume = (): void => {
    for (const client of this.#scopes.all()) client.resume();
  };
}

/** Without an answer the subscription ends with the connection; anything else no store may do. */
function ignoreSilence(error: unknown): void {
  if (!(error instanceof AdmissionStoreError)) throw error;
}
