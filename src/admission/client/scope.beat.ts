import type { ClientEnvironment, ClientTimer } from '../../store/index.js';
import { BEAT_MS, MOST_BEATEN, POLL_MS } from '../admission.store.js';
import type { Claim } from './claim.js';

export interface BeatPort {
  /** What is open now, the oldest first. */
  claims(): Iterable<Claim>;
  /** Sends one beat. @returns whether it was answered; never rejects */
  beat(claims: readonly Claim[]): Promise<boolean>;
}

/** After a beat without an answer, ms. */
const RETRY_MS = 500;
/** A sign of life that is younger need not be repeated, ms; less than the time between two beats of any kind. */
const FRESH_MS = POLL_MS / 2;
/** The same of what need not be asked about, ms; it is due with one of the next two beats. */
const GRANTED_MS = BEAT_MS / 2;

/**
 * The clock of one scope: signs of life for all that is open, questions for what waits, and the pump when this process has it. No
 * timer runs when nothing is open.
 */
export class ScopeBeat {
  #timer: ClientTimer | undefined;
  #at = Infinity;
  #pump: ClientTimer | undefined;
  #hasPump = false;
  #isStopped = false;

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly port: BeatPort,
  ) {}

  /** Whether the other processes rely on this one. */
  get hasPump(): boolean {
    return this.#hasPump;
  }

  /** Beats within so many ms: POLL_MS for what waits, BEAT_MS for what was granted. */
  arm(withinMs: number): void {
    const due = this.environment.now() + withinMs;
    if (due >= this.#at || this.#isStopped) return;
    this.#timer?.cancel();
    this.#at = due;
    this.#timer = this.environment.after(withinMs, this.#beat);
  }

  /** @param inMs when the store wants a beat of this process, whoever waits; undefined: another one has the pump */
  pumpIn(inMs: number | undefined): void {
    this.#pump?.cancel();
    this.#hasPump = inMs !== undefined && !this.#isStopped;
    if (inMs === undefined || this.#isStopped) return;
    this.#pump = this.environment.after(inMs, () => {
      this.#hasPump = false;
      void this.port.beat([]);
    });
  }

  /** Asks how everything stands, at once: messages may have been lost. */
  askAll(): void {
    this.#send([...this.port.claims()].filter(isBeaten));
  }

  /** Nothing is open. */
  rest(): void {
    this.#timer?.cancel();
    this.#at = Infinity;
  }

  stop(): void {
    this.#isStopped = true;
    this.rest();
    this.#pump?.cancel();
    this.#hasPump = false;
  }

  readonly #beat = (): void => {
    this.#at = Infinity;
    this.#send(this.#due());
    const interval = this.#interval();
    if (interval !== undefined) this.arm(interval);
  };

  /** Of those that wait the oldest, whose turn it is; and whatever else has not been told of for a while. */
  #due(): readonly Claim[] {
    const now = this.environment.now();
    let asked = 0;
    return [...this.port.claims()].filter((claim) => {
      if (!isBeaten(claim)) return false;
      const ageMs = now - claim.aliveAt;
      if (claim.state === 'granted') return ageMs >= GRANTED_MS;
      if (ageMs >= FRESH_MS && asked < MOST_BEATEN) {
        asked += 1;
        return true;
      }
      return ageMs >= GRANTED_MS;
    });
  }

  #send(claims: readonly Claim[]): void {
    for (let from = 0; from < claims.length; from += MOST_BEATEN) {
      void this.port.beat(claims.slice(from, from + MOST_BEATEN)).then((isAnswered) => {
        if (!isAnswered) this.arm(RETRY_MS);
      });
    }
  }

  #interval(): number | undefined {
    let interval: number | undefined;
    for (const claim of this.port.claims()) {
      if (claim.state === 'waiting') return POLL_MS;
      if (isBeaten(claim)) interval = BEAT_MS;
    }
    return interval;
  }
}

/** A strict reservation lasts as long as its lease, whether its process lives or not. */
function isBeaten({ state, request, isGone }: Claim): boolean {
  return state === 'waiting' || (state === 'granted' && !request.isStrict && !isGone);
}
