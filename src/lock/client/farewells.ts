import type { LeaveAnswer } from '../lock.store.js';
import type { ClientEnvironment, ClientTimer, LockLine } from './client.ports.js';
import { CLIENT_RULES } from './client.rules.js';

export interface Farewell {
  readonly key: string;
  readonly token: string;
  /** Stay held in the store until then, by the client's clock (minimum hold). */
  readonly keepUntil?: number;
  /** True where an acquire of the token may still be on its way. */
  readonly buries: boolean;
}

/** What became of a leave: the store's answer, or silence in the time of one call (it is repeated nevertheless). */
export type FarewellOutcome =
  | { readonly kind: 'silent' }
  | { readonly kind: 'answered'; readonly answer: LeaveAnswer; readonly isRepeated: boolean };

interface OpenFarewell {
  readonly farewell: Farewell;
  readonly until: number;
  attempts: number;
  timer: ClientTimer | undefined;
  listeners: ((outcome: FarewellOutcome) => void)[];
}

/** Says goodbye to tokens until the store has heard it: release, cancel and undo alike. */
export class Farewells {
  readonly #open = new Map<string, OpenFarewell>();
  #onEmpty: (() => void)[] = [];
  #isStopped = false;

  constructor(
    private readonly environment: ClientEnvironment,
    private readonly line: LockLine,
  ) {}

  /** What was said of a token before and is not answered yet still counts: a late word of its acquire ends no minimum hold. */
  say(farewell: Farewell): void {
    if (this.#isStopped) return;
    const earlier = this.#open.get(farewell.token);
    if (earlier !== undefined && (earlier.farewell.buries || !farewell.buries)) return;
    earlier?.timer?.cancel();
    const { attempts, listeners } = earlier ?? { attempts: 0, listeners: [] };
    const open: OpenFarewell = {
      farewell: Object.assign({}, earlier?.farewell, farewell),
      until: this.environment.now() + CLIENT_RULES.farewellMs,
      attempts,
      timer: undefined,
      listeners,
    };
    this.#open.set(farewell.token, open);
    this.#send(open);
  }

  /** Hears of the next outcome for a token. @returns false: nothing is open for it, nothing will be heard */
  listen(token: string, hear: (outcome: FarewellOutcome) => void): boolean {
    const open = this.#open.get(token);
    open?.listeners.push(hear);
    return open !== undefined;
  }

  /** Calls once nothing is open, at once if nothing is. */
  whenEmpty(run: () => void): void {
    if (this.#open.size === 0) run();
    else this.#onEmpty.push(run);
  }

  /** Gives up what is open, and whatever else would be to say; the leases end by themselves. */
  stop(): void {
    this.#isStopped = true;
    for (const open of this.#open.values()) this.#close(open, { kind: 'silent' });
  }

  #send(open: OpenFarewell): void {
    const { key, token, keepUntil, buries } = open.farewell;
    const keepMs = keepUntil === undefined ? 0 : Math.max(0, Math.ceil(keepUntil - this.environment.now()));
    open.attempts += 1;
    open.timer = undefined;
    this.line.leave({ key, token, keepMs, tombstoneMs: buries ? CLIENT_RULES.tombstoneMs : 0 }, (outcome) => {
      if (this.#open.get(token) !== open) return;
      if (outcome.isAnswered) {
        this.#close(open, { kind: 'answered', answer: outcome.answer, isRepeated: open.attempts > 1 });
      } else this.#repeat(open);
    });
  }

  #repeat(open: OpenFarewell): void {
    if (this.environment.now() >= open.until) {
      this.#close(open, { kind: 'silent' });
      return;
    }
    this.#tell(open, { kind: 'silent' });
    open.timer ??= this.environment.after(100 + this.environment.random() * 200, () => {
      this.#send(open);
    });
  }

  #close(open: OpenFarewell, outcome: FarewellOutcome): void {
    open.timer?.cancel();
    this.#open.delete(open.farewell.token);
    this.#tell(open, outcome);
    if (this.#open.size > 0) return;
    const waiting = this.#onEmpty;
    this.#onEmpty = [];
    for (const run of waiting) run();
  }

  #tell(open: OpenFarewell, outcome: FarewellOutcome): void {
    const { listeners } = open;
    open.listeners = [];
    for (const hear of listeners) hear(outcome);
  }
}
