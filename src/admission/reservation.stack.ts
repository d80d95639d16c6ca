import { AdmissionOptionsError } from './admission.errors.js';
import type { Wish } from './admission.options.js';
import type { Spending } from './client/scope.line.js';
import type { Reservation } from './reservation.js';

export interface Reserves {
  reserve(wish: Wish): Promise<Reservation>;
}

/**
 * The reservations of one call in several scopes, taken one after the other: those of its caller first, that of the deployment last.
 * What was taken last ends first, so that nothing stays taken in the crowded place for the sake of the quiet one. A fallback drops or
 * settles the top and reserves the next deployment: what is below stays as it is.
 *
 * @example
 * const stack = admission.stack();
 * try {
 *   await stack.reserve(caller);
 *   await stack.reserve(deployment);
 *   await stack.sending(signal);
 *   const usage = await call();
 *   await stack.settle(usage);
 * } finally {
 *   await stack.end();
 * }
 */
export class ReservationStack {
  readonly #held: Reservation[] = [];
  #queueMs = 0;
  #isOver = false;

  constructor(private readonly admission: Reserves) {}

  /** The last one that was taken. */
  get top(): Reservation | undefined {
    return this.#held.at(-1);
  }

  get held(): readonly Reservation[] {
    return this.#held;
  }

  /** How long all of them were waited for, those included that were dropped, ms. */
  get queueMs(): number {
    return this.#queueMs;
  }

  /** Takes one more; what is held stays held when it is refused. @throws what AdmissionService.reserve() throws */
  async reserve(wish: Wish): Promise<Reservation> {
    this.#assertOpen();
    return this.#add(await this.admission.reserve(wish));
  }

  /**
   * To be awaited right before the call goes out: asks again for the top for as long as its grant is too old to be used. Those below
   * are this side's own limits, which no upstream judges by the clock.
   *
   * @throws what AdmissionService.reserve() throws; the top is gone then
   */
  async sending(signal?: AbortSignal): Promise<void> {
    this.#assertOpen();
    for (let top = this.top; top !== undefined; top = this.top) {
      if (top.sending()) {
        for (const reservation of this.#held) reservation.sent();
        return;
      }
      this.#held.pop();
      await this.#add(await top.again(signal));
    }
  }

  /** Undoes the top: the call was never sent there. */
  async drop(): Promise<void> {
    await this.#held.pop()?.cancel();
  }

  /** Settles the top alone: the call was sent there, and goes on elsewhere. Never rejects. */
  async settleTop(spending?: Partial<Spending>): Promise<void> {
    await this.#held.pop()?.settle(spending);
  }

  /** Settles all, the top first. Never rejects. */
  async settle(spending?: Partial<Spending>): Promise<void> {
    this.#isOver = true;
    await Promise.all(
      this.#held
        .splice(0)
        .reverse()
        .map((reservation) => reservation.settle(spending)),
    );
  }

  /**
   * The way out of every call, whatever happened: what is still held is undone where it was not sent, and booked as reserved where it
   * was. Never rejects.
   */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(
      this.#held
        .splice(0)
        .reverse()
        .map((reservation) => reservation.cancel()),
    );
  }

  /** What is granted to a call that is over already is undone at once. */
  async #add(reservation: Reservation): Promise<Reservation> {
    this.#queueMs += reservation.queueMs;
    if (this.#isOver) await reservation.cancel();
    this.#assertOpen();
    this.#held.push(reservation);
    return reservation;
  }

  #assertOpen(): void {
    if (this.#isOver) throw new AdmissionOptionsError('the call that these reservations are for is over');
  }
}
