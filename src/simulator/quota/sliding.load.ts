import { FifoQueue } from './fifo.queue.js';
import type { TokenRule } from './quota.limits.js';

/** What one call has put on a load. */
export interface Charge {
  readonly until: number;
  /** Charged at admission. */
  readonly held: number;
  /** Charged at completion. */
  kept: number;
  /** True while a completion will still change it. */
  isOpen: boolean;
  /** True when the window of its admission has passed while it was open. */
  isDue: boolean;
}

interface Release {
  readonly until: number;
  readonly amount: number;
}

/**
 * What lies on one sliding window, exactly: two moments share a window when less than `windowMs` lies between them, and nothing is rounded. The
 * window that ends at a charge is the fullest one, so `most` is right for every window of the run. Times are monotonic milliseconds and never
 * step back. By the rule a call weighs
 * - `adm`: its estimate, from its admission for one window;
 * - `cmp`: what it used, from its completion for one window;
 * - `safe`: the larger of both, and its estimate for as long as it runs.
 */
export class SlidingLoad {
  private readonly held = new FifoQueue<Charge>();
  private readonly kept = new FifoQueue<Release>();
  private now = 0;
  private usedNow = 0;
  private mostEver = 0;

  constructor(
    private readonly windowMs: number,
    private readonly rule: TokenRule,
  ) {}

  /** On the window that ends now. */
  get used(): number {
    return this.usedNow;
  }

  /** The most on any window since the books were opened. */
  get most(): number {
    return this.mostEver;
  }

  /** Opens new books; what lies on the window stays. */
  resetMost(): void {
    this.mostEver = this.usedNow;
  }

  admit(now: number, estimate: number): Charge {
    this.advance(now);
    const held = this.rule === 'cmp' ? 0 : estimate;
    const charge = { until: now + this.windowMs, held, kept: 0, isOpen: this.rule !== 'adm', isDue: false };
    if (held > 0) this.held.push(charge);
    this.add(held);
    return charge;
  }

  /** The call of this charge is over and has used so much. Once; later ones change nothing. */
  settle(charge: Charge, now: number, actual: number): void {
    if (!charge.isOpen) return;
    this.advance(now);
    charge.isOpen = false;
    charge.kept = actual;
    if (actual > 0) this.kept.push({ until: now + this.windowMs, amount: actual });
    this.add(Math.max(0, actual - charge.held));
    if (charge.isDue) this.usedNow -= excess(charge);
  }

  /** Lets go of what is older than a window. */
  advance(now: number): void {
    this.now = now;
    for (let charge = this.held.first; charge !== undefined && charge.until <= now; charge = this.held.first) {
      this.held.shift();
      charge.isDue = charge.isOpen;
      this.usedNow -= charge.isOpen ? 0 : excess(charge);
    }
    for (let release = this.kept.first; release !== undefined && release.until <= now; release = this.kept.first) {
      this.kept.shift();
      this.usedNow -= release.amount;
    }
  }

  /**
   * Milliseconds until at most `room` is used, if nothing is added and open calls turn out to have used nothing; undefined where only calls that
   * are open longer than a window could bring it there.
   */
  waitMs(room: number): number | undefined {
    let used = this.usedNow;
    if (used <= room) return 0;
    for (const { until, amount } of this.releases()) {
      used -= amount;
      if (used <= room) return until - this.now;
    }
    return undefined;
  }

  /** Milliseconds until nothing is used any more, as far as is known. */
  get restoreMs(): number {
    return Math.max(0, (this.held.last?.until ?? 0) - this.now, (this.kept.last?.until ?? 0) - this.now);
  }

  private add(amount: number): void {
    this.usedNow += amount;
    this.mostEver = Math.max(this.mostEver, this.usedNow);
  }

  /** What will be let go, in the order of time. */
  private *releases(): Generator<Release> {
    const kept = this.kept[Symbol.iterator]();
    let next = kept.next();
    for (const charge of this.held) {
      for (; next.done !== true && next.value.until <= charge.until; next = kept.next()) yield next.value;
      yield { until: charge.until, amount: charge.isOpen ? charge.held : excess(charge) };
    }
    for (; next.done !== true; next = kept.next()) yield next.value;
  }
}

/** What the admission weighs above the completion. */
function excess({ held, kept }: Charge): number {
  return Math.max(0, held - kept);
}
