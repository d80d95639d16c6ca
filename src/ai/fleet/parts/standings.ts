import type { FleetObserver } from '../fleet.observer.js';
import { type Standing, type StandingChange, standingTopic, UNKNOWN } from '../topics/standing.topic.js';
import { wholeOf } from '../topics/fields.js';
import { type LinePorts, TopicLine } from '../view/topic.line.js';

/** Whether a deployment may be called. */
export interface StandingCard {
  /** `open`: leave it alone. `half-open`: only who has claimed the probe may call it. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** Until a call may be worth trying, ms; while somebody probes, what is left of the claim at most. 0: now. */
  readonly retryAfterMs: number;
  /** What it failed with; undefined while closed. */
  readonly code?: string;
}

export interface FailureReport {
  /** The failure's error code. */
  readonly code: string;
  /** From the start of the attempt to its failure, ms. */
  readonly tookMs: number;
  /** What the provider asked for: it is left alone at once, for as long as that. */
  readonly retryAfterMs?: number;
}

/** A claim is renewed every second; that of a process that died ends by itself, ms. */
export const PROBE_LEASE_MS = 5_000;
/** A probe that nobody ended is given up, ms: longer than any request lasts. */
const LONGEST_PROBE_MS = 150_000;
/** A store that is slow must not hold up a call, ms; after that, own knowledge decides. */
const CLAIM_PATIENCE_MS = 250;
const CODE_LENGTH = 64;

/**
 * Cooldown and breaker of each deployment, the same for all pods within a second. To be told how each attempt ended:
 *
 * @example
 * const { state, retryAfterMs } = standings.of(id);
 * if (state === 'open' || (state === 'half-open' && !(await standings.claimProbe(id)))) … // next deployment, or 503 in retryAfterMs
 * // then, of each attempt:
 * standings.succeeded(id, { tookMs });
 * standings.failed(id, { code, tookMs, retryAfterMs }); // where the upstream is to blame, 429 included
 * standings.letGo(id, { tookMs }); // neither: the caller left, the request or the key was to blame
 */
export class Standings {
  readonly line: TopicLine<Standing, StandingChange>;
  /** Probes of this process, with when they were claimed by its monotonic clock. */
  readonly #probes = new Map<string, number>();
  /** How often in a row the observer was told that they opened. */
  readonly #announced = new Map<string, number>();

  constructor(
    deployments: Iterable<string>,
    private readonly ports: LinePorts,
    private readonly observer: FleetObserver,
  ) {
    this.line = new TopicLine(standingTopic, deployments, ports, (id, before, after) => {
      this.#changed(id, before, after);
    });
  }

  of(deployment: string): StandingCard {
    const standing = this.line.bodyOf(deployment);
    if (standing === undefined || standing.openings === 0) return { state: 'closed', retryAfterMs: 0 };
    const { now } = this.ports.clock;
    const { openUntil, probeUntil, code } = standing;
    if (now < openUntil) return { state: 'open', retryAfterMs: openUntil - now, code };
    return { state: 'half-open', retryAfterMs: Math.max(0, probeUntil - now), code };
  }

  /**
   * Asks for the right to make the one call that decides whether a half-open deployment is in use again. True for one call in the
   * whole fleet, and for anybody where it is closed after all. Never rejects; while the store is away each pod probes for itself.
   */
  async claimProbe(deployment: string): Promise<boolean> {
    const { process } = this;
    if (this.of(deployment).state === 'closed') return true;
    const mayAsk = this.of(deployment).retryAfterMs === 0 && !this.#probes.has(deployment);
    if (!mayAsk || !this.line.note(deployment, { kind: 'claimed', process, leaseMs: PROBE_LEASE_MS })) {
      return this.#claimed(deployment, false);
    }
    this.#probes.set(deployment, this.ports.clock.monotonic);
    await withinPatience(this.line.flush());
    const standing = this.line.bodyOf(deployment);
    const isClosed = standing === undefined || standing.openings === 0;
    const isOurs = standing?.prober === process;
    if (!isOurs) this.#probes.delete(deployment);
    return isClosed || this.#claimed(deployment, isOurs);
  }

  /** An attempt was answered. Costs nothing while the deployment is closed and nobody has seen it fail. */
  succeeded(deployment: string, { tookMs }: { readonly tookMs: number }): void {
    this.line.note(deployment, { kind: 'succeeded', tookMs: wholeOf(tookMs) });
  }

  failed(deployment: string, { code, tookMs, retryAfterMs = 0 }: FailureReport): void {
    this.line.note(deployment, {
      kind: 'failed',
      code: code.replace(/[^\w.-]/g, '_').slice(0, CODE_LENGTH),
      tookMs: wholeOf(tookMs),
      retryAfterMs: wholeOf(retryAfterMs),
    });
  }

  /**
   * An attempt ended without a word about the deployment: if it was the probe, another call may take its place.
   *
   * @param tookMs - from its start; what began before the claim was not the probe
   */
  letGo(deployment: string, { tookMs = 0 }: { readonly tookMs?: number } = {}): void {
    const claimed = this.#probes.get(deployment);
    if (claimed === undefined || this.ports.clock.monotonic - tookMs < claimed) return;
    this.#probes.delete(deployment);
    if (this.line.note(deployment, { kind: 'let-go', process: this.process })) void this.line.flush();
  }

  /** To be called every second while there is traffic; a probe is traffic. */
  beat(): void {
    const { process } = this;
    for (const deployment of this.#announced.keys()) this.#announce(deployment, this.line.peek(deployment));
    for (const [deployment, claimed] of this.#probes) {
      if (this.ports.clock.monotonic - claimed > LONGEST_PROBE_MS) this.letGo(deployment);
      else this.line.note(deployment, { kind: 'claimed', process, leaseMs: PROBE_LEASE_MS });
    }
  }

  letAllGo(): void {
    for (const deployment of this.#probes.keys()) this.letGo(deployment);
  }

  private get process(): string {
    return this.ports.from;
  }

  #claimed(deployment: string, isOurs: boolean): boolean {
    this.observer.probe(deployment, isOurs ? 'claimed' : 'refused');
    return isOurs;
  }

  #changed(deployment: string, before: Standing = UNKNOWN, after: Standing = UNKNOWN): void {
    // At once; strikes can wait for the next batch.
    if (standingTopic.isNews(before, after)) void this.line.flush();
    this.#announce(deployment, after);
    // The probe has its verdict.
    if (after.prober !== this.process && before.prober === this.process) this.#probes.delete(deployment);
  }

  #announce(deployment: string, { openings, openUntil, code }: Standing = UNKNOWN): void {
    const told = this.#announced.get(deployment) ?? 0;
    if (openings === 0) this.#announced.delete(deployment);
    else this.#announced.set(deployment, openings);
    if (openings > told) {
      this.observer.opened(deployment, { code, forMs: Math.max(0, openUntil - this.ports.clock.now), openings });
    }
    if (openings === 0 && told > 0) this.observer.closed(deployment);
  }
}

/** Resolves with the work, or when the patience is over. */
async function withinPatience(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLAIM_PATIENCE_MS);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
