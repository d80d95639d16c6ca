import { BriefMap, type ClientEnvironment, type ClientTimer } from '../../store/index.js';
import { LEASE_MS } from '../admission.store.js';
import type { Claim } from './claim.js';

interface OpenFarewell {
  readonly id: string;
  readonly say: () => Promise<unknown>;
  /** After which the store knows nothing of the reservation any more, by the local clock. */
  readonly until: number;
  attempts: number;
  timer: ClientTimer | undefined;
  /** Told of the first outcome, whichever it is. */
  heard: () => void;
  isSending: boolean;
}

/** How long after a lease's end the store is still told how it ended, ms: its clock may have stood still. */
const SLACK_MS = 5_000;
const RETRY_MS = 200;
const MOST_RETRY_MS = 2_000;

/** Says how each reservation ended until the store has heard it, or has ended it itself. Nothing here rejects. */
export class Farewells {
  readonly #open = new BriefMap<string, OpenFarewell>();
  #onEmpty: (() => void)[] = [];

  constructor(private readonly environment: ClientEnvironment) {}

  get size(): number {
    return this.#open.size;
  }

  /**
   * @param say settles or cancels; may be repeated
   * @returns resolves when the store has heard, or could not be reached once; it is said again nevertheless
   */
  say({ id, aliveAt, request }: Claim, say: () => Promise<unknown>): Promise<void> {
    const until = aliveAt + (request.isStrict ? request.holdMs : LEASE_MS) + SLACK_MS;
    return new Promise((resolve) => {
      const open: OpenFarewell = { id, say, until, attempts: 0, timer: undefined, heard: resolve, isSending: false };
      this.#open.set(id, open);
      this.#send(open);
    });
  }

  /** The store is back: says all that is open again, soon. */
  hasten(): void {
    for (const open of this.#open.values()) {
      open.attempts = 1;
      if (!open.isSending) this.#sendLater(open);
    }
  }

  /** Resolves once nothing is open. */
  empty(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty.push(resolve);
    });
  }

  /** Gives up what is open: the leases end by themselves. */
  stop(): void {
    for (const open of [...this.#open.values()]) this.#close(open);
  }

  #send(open: OpenFarewell): void {
    open.attempts += 1;
    open.isSending = true;
    open.say().then(
      () => {
        this.#close(open);
      },
      () => {
        open.isSending = false;
        this.#repeat(open);
      },
    );
  }

  #repeat(open: OpenFarewell): void {
    open.heard();
    if (this.#open.get(open.id) !== open) return;
    if (this.environment.now() >= open.until) {
      this.#close(open);
      return;
    }
    this.#sendLater(open);
  }

  #sendLater(open: OpenFarewell): void {
    const pause = Math.min(RETRY_MS * 2 ** (open.attempts - 1), MOST_RETRY_MS);
    open.timer?.cancel();
    open.timer = this.environment.after(pause * (0.5 + this.environment.random() / 2), () => {
      this.#send(open);
    });
  }

  #close(open: OpenFarewell): void {
    open.timer?.cancel();
    open.heard();
    if (this.#open.get(open.id) === open) this.#open.delete(open.id);
    if (this.#open.size > 0) return;
    const waiting = this.#onEmpty;
    this.#onEmpty = [];
    for (const resolve of waiting) resolve();
  }
}
