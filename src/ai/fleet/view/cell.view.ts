import type { AgedChange, Cell, CellRequest, Topic } from '../fleet.store.js';

interface TimedChange<Change> {
  readonly change: Change;
  readonly at: number;
}

const NOTHING = { revision: 0, endsAt: 0, body: undefined };

/**
 * One cell as this process sees it: what the store said last, and on top of it the changes that the store has not confirmed yet.
 * A store that is away confirms none, and the view goes on all the same.
 */
export class CellView<Body, Change> {
  #confirmed: Cell<Body> = NOTHING;
  #seen: Omit<Cell<Body>, 'revision'> = NOTHING;
  #pending: TimedChange<Change>[] = [];
  #sent: readonly TimedChange<Change>[] = [];

  constructor(
    readonly id: string,
    private readonly topic: Topic<Body, Change>,
  ) {}

  get isPending(): boolean {
    return this.#pending.length > 0;
  }

  read(now: number): Body | undefined {
    return now < this.#seen.endsAt ? this.#seen.body : undefined;
  }

  /** True if it makes a difference here; then it waits to be sent. */
  note(change: Change, at: number): boolean {
    const before = this.read(at);
    const after = this.topic.apply(before, change, at);
    if (after === before) return false;
    this.#see(after, at);
    this.#pend({ change, at });
    return true;
  }

  /** Lets a change wait to be sent that makes no difference here, but may make one in the store. */
  insist(change: Change, at: number): void {
    if (!this.note(change, at)) this.#pend({ change, at });
  }

  /** What is to be sent now; it is then under way until `confirm` or `takeBack`. */
  request(now: number): CellRequest<Change> {
    this.#sent = this.#pending;
    this.#pending = [];
    const changes = this.#sent.map(({ change, at }): AgedChange<Change> => ({ change, agoMs: Math.max(0, now - at) }));
    return { id: this.id, seen: this.#confirmed.revision, changes };
  }

  /** @param cell - undefined: the store still says what it said last */
  confirm(cell: Cell<Body> | undefined, now: number): void {
    this.#sent = [];
    this.#confirmed = cell ?? this.#confirmed;
    this.#seen = this.#confirmed;
    for (const { change, at } of this.#pending) this.#see(this.topic.apply(this.read(at), change, at), now);
  }

  /** The store did not answer: it may or may not know them. */
  takeBack(): void {
    const pending = this.#pending;
    this.#pending = [...this.#sent];
    this.#sent = [];
    for (const timed of pending) this.#pend(timed);
  }

  #see(body: Body | undefined, now: number): void {
    this.#seen = { body, endsAt: body === undefined ? 0 : this.topic.endOf(body, now) };
  }

  #pend(timed: TimedChange<Change>): void {
    let { change } = timed;
    let kept = 0;
    for (const older of this.#pending) {
      const both = this.topic.merge(older.change, change);
      change = both ?? change;
      if (both !== undefined) continue;
      this.#pending[kept] = older;
      kept += 1;
    }
    this.#pending.length = kept;
    this.#pending.push({ change, at: timed.at });
    if (this.#pending.length > this.topic.mostPending) this.#pending.shift();
  }
}
