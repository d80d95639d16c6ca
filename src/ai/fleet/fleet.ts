import { randomUUID } from 'node:crypto';
import { type FleetObserver, SILENT_FLEET_OBSERVER } from './fleet.observer.js';
import type { FleetNews, FleetStore } from './fleet.store.js';
import { KeyBook } from './parts/key.book.js';
import { Latencies, type TimedModel } from './parts/latencies.js';
import { RateLimits } from './parts/rate.limits.js';
import { Standings } from './parts/standings.js';
import { TokenRatios } from './parts/token.ratios.js';
import { NO_NEED } from './quota.need.js';
import { FleetClock, type FleetTime, SYSTEM_TIME } from './view/fleet.clock.js';
import type { LinePorts } from './view/topic.line.js';

/** Of what there is knowledge. All names come from the catalogue, so memory is bounded. */
export interface FleetScope {
  /** Ids of the deployments, with the id of the key that each is called with. */
  readonly deployments: readonly { readonly id: string; readonly key: string }[];
  readonly models: readonly TimedModel[];
}

export interface FleetOptions extends FleetScope {
  readonly store: FleetStore;
  /** Default: nobody looks. */
  readonly observer?: FleetObserver;
  /** Default: the system's. */
  readonly time?: FleetTime;
}

/** What was learned waits no longer than this for the others, ms. */
const FLUSH_MS = 250;
/** While there is traffic, all is read so often, ms. */
const READ_MS = 1_000;
/** Without traffic for so long there is nothing to do, ms. */
const IDLE_MS = 10_000;

/**
 * What all pods know of the upstreams, as this process sees it. Reading is synchronous and costs no I/O; what is learned here is
 * with the other pods within a second, what opens, closes or parks at once. Nothing here throws or waits for the sake of the
 * store: while it is away, the view goes on with this process's own knowledge, and what was learned is handed in later.
 *
 * Timers run while there is traffic, and until {@link close}.
 */
export class Fleet {
  readonly standings: Standings;
  readonly keys: KeyBook;
  readonly limits: RateLimits;
  readonly latencies: Latencies;
  readonly tokens: TokenRatios;
  readonly #store: FleetStore;
  readonly #observer: FleetObserver;
  readonly #time: FleetTime;
  readonly #keyOf: ReadonlyMap<string, string>;
  readonly #from = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #lastTraffic = Number.NEGATIVE_INFINITY;
  #lastRead = Number.NEGATIVE_INFINITY;
  #listening: 'no' | 'asked' | 'yes' = 'no';
  #isLost = false;
  #isClosed = false;
  /** Whoever looks is no traffic. */
  #isLooking = false;

  constructor({ store, deployments, models, observer = SILENT_FLEET_OBSERVER, time = SYSTEM_TIME }: FleetOptions) {
    this.#store = store;
    this.#observer = observer;
    this.#time = time;
    this.#keyOf = new Map(deployments.map(({ id, key }) => [id, key]));
    const ports: LinePorts = {
      store,
      clock: new FleetClock(time),
      from: this.#from,
      touched: this.#touch.bind(this),
      answered: this.#answered.bind(this),
      failed: this.#failed.bind(this),
    };
    this.standings = new Standings(this.#keyOf.keys(), ports, observer);
    this.keys = new KeyBook([...new Set(this.#keyOf.values())], ports, observer);
    this.limits = new RateLimits(this.#keyOf.keys(), ports);
    this.latencies = new Latencies(models, ports);
    this.tokens = new TokenRatios(
      models.map(({ name }) => name),
      ports,
    );
  }

  /** Reads what is known, so that the first calls do too. Optional; never rejects, and waits no longer than the store does. */
  async start(): Promise<void> {
    this.#touch();
    await Promise.all([this.#listen(), this.#read()]);
  }

  /** Reads what the others have told meanwhile, for somebody who looks. Never rejects, and waits no longer than the store does. */
  async refresh(): Promise<void> {
    await this.#read();
  }

  /** Answers what `read` finds, for somebody who looks often and needs nothing fresh: it is read anew in passing, and no timer runs for it. */
  look<Result>(read: () => Result): Result {
    this.#isLooking = true;
    try {
      if (!this.#isClosed && this.#time.monotonic() - this.#lastRead >= READ_MS) this.#renew();
      return read();
    } finally {
      this.#isLooking = false;
    }
  }

  /** The store did not answer last: what is known is what this process has seen itself. */
  get isAlone(): boolean {
    return this.#isLost;
  }

  /**
   * What is left of a deployment's rate limits or of its key is nearly used, or less than the next call takes: leave it before it
   * refuses.
   */
  isNearlyUsed(deployment: string, need = NO_NEED): boolean {
    return this.limits.isNearlyUsed(deployment, need) || this.keys.isNearlyUsed(this.#key(deployment), need);
  }

  /** Ends all timers, hands in what is pending and lets probes go. Never rejects; before the store closes. */
  async close(): Promise<void> {
    this.standings.letAllGo();
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([this.#store.unsubscribe(this.#hear), ...this.#lines.map((line) => line.flush())]);
  }

  get #lines() {
    const { standings, keys, limits, latencies, tokens } = this;
    return [standings.line, keys.parking, keys.usage, limits.line, latencies.line, tokens.line];
  }

  #answered(): void {
    if (this.#isLost) this.#observer.storeBack();
    this.#isLost = false;
  }

  #failed(error: unknown): void {
    if (!this.#isLost) this.#observer.storeLost(error);
    this.#isLost = true;
  }

  #touch(): void {
    if (this.#isLooking) return;
    this.#lastTraffic = this.#time.monotonic();
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setInterval(() => {
      this.#beat();
    }, FLUSH_MS).unref();
    this.#beat();
  }

  #beat(): void {
    const now = this.#time.monotonic();
    if (now - this.#lastTraffic >= IDLE_MS) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    if (now - this.#lastRead >= READ_MS) {
      this.#renew();
      void this.#listen();
    } else if (!this.#isLost) {
      for (const line of this.#lines) if (line.isPending) void line.flush();
    }
  }

  #renew(): void {
    this.standings.beat();
    this.keys.beat();
    void this.#read();
  }

  async #read(): Promise<void> {
    this.#lastRead = this.#time.monotonic();
    await Promise.all(this.#lines.map((line) => line.flush(true)));
  }

  async #listen(): Promise<void> {
    if (this.#listening !== 'no') return;
    this.#listening = 'asked';
    try {
      await this.#store.subscribe(this.#hear, this.#reread);
      this.#listening = 'yes';
    } catch (error) {
      this.#listening = 'no';
      this.#failed(error);
    }
    if (this.#isClosed) await this.#store.unsubscribe(this.#hear);
  }

  readonly #hear = ({ topic, from }: FleetNews): void => {
    if (from === this.#from) return;
    for (const line of this.#lines) if (line.name === topic) void line.flush(true);
  };

  /** Messages may have been lost. */
  readonly #reread = (): void => {
    void this.#read();
  };

  #key(deployment: string): string {
    const key = this.#keyOf.get(deployment);
    if (key === undefined) throw new RangeError(`the fleet has no deployment ${JSON.stringify(deployment)}`);
    return key;
  }
}
