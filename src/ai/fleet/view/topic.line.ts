import type { FleetStore, Topic } from '../fleet.store.js';
import { CellView } from './cell.view.js';
import type { FleetClock } from './fleet.clock.js';

/** What the lines of one process share. */
export interface LinePorts {
  readonly store: FleetStore;
  readonly clock: FleetClock;
  /** Name of this process. */
  readonly from: string;
  /** Told of each call that needs the fleet's knowledge: while there are any, it is kept fresh. */
  readonly touched: () => void;
  readonly answered: () => void;
  readonly failed: (error: unknown) => void;
}

/** Told whenever this process sees a cell otherwise than before. */
export type CellWatcher<Body> = (id: string, before: Body | undefined, after: Body | undefined) => void;

/** This process's view of one topic, and its way to the store. Reading never waits; exchanges follow each other, never overlap. */
export class TopicLine<Body, Change> {
  readonly #cells: ReadonlyMap<string, CellView<Body, Change>>;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isWhole = false;

  constructor(
    private readonly topic: Topic<Body, Change>,
    ids: Iterable<string>,
    private readonly ports: LinePorts,
    private readonly watch: CellWatcher<Body> = () => undefined,
  ) {
    this.#cells = new Map(Array.from(ids, (id) => [id, new CellView(id, topic)]));
  }

  get name(): Topic<Body, Change>['name'] {
    return this.topic.name;
  }

  get isPending(): boolean {
    return [...this.#cells.values()].some((cell) => cell.isPending);
  }

  /** For a call. @throws RangeError for an id that is not the catalogue's */
  bodyOf(id: string): Body | undefined {
    this.ports.touched();
    return this.peek(id);
  }

  /** Not for a call: a look keeps nothing alive. @throws RangeError for an id that is not the catalogue's */
  peek(id: string): Body | undefined {
    return this.#cell(id).read(this.ports.clock.now);
  }

  /**
   * True if that made a difference; then it is sent with the next flush. What makes none costs nothing.
   *
   * @throws RangeError for an id that is not the catalogue's
   */
  note(id: string, change: Change): boolean {
    this.ports.touched();
    const cell = this.#cell(id);
    return this.#see(cell, () => cell.note(change, this.ports.clock.now));
  }

  /** Sends it with the next flush, whatever this process knows. @throws RangeError for an id that is not the catalogue's */
  insist(id: string, change: Change): void {
    this.ports.touched();
    const cell = this.#cell(id);
    this.#see(cell, () => {
      cell.insist(change, this.ports.clock.now);
    });
  }

  /**
   * Sends what is pending, together with whatever else is noted by the end of the present task. Never rejects.
   *
   * @param isWhole - read all cells, not only those that are sent
   */
  flush(isWhole = false): Promise<void> {
    this.#isWhole ||= isWhole;
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      this.#last = this.#exchange();
      return this.#last;
    });
    return this.#next;
  }

  async #exchange(): Promise<void> {
    const { store, clock, from } = this.ports;
    const cells = [...this.#cells.values()].filter((cell) => this.#isWhole || cell.isPending);
    this.#isWhole = false;
    if (cells.length === 0) return;
    const asked = clock.monotonic;
    const { now } = clock;
    try {
      const requests = cells.map((cell) => cell.request(now));
      const answer = await store.exchange(this.topic, from, requests);
      clock.answered(asked, answer.now);
      cells.forEach((cell, index) => {
        this.#see(cell, () => {
          cell.confirm(answer.cells[index], clock.now);
        });
      });
      this.ports.answered();
    } catch (error) {
      for (const cell of cells) cell.takeBack();
      this.ports.failed(error);
    }
  }

  #see<Result>(cell: CellView<Body, Change>, change: () => Result): Result {
    const before = cell.read(this.ports.clock.now);
    const result = change();
    const after = cell.read(this.ports.clock.now);
    if (after !== before) this.watch(cell.id, before, after);
    return result;
  }

  #cell(id: string): CellView<Body, Change> {
    const cell = this.#cells.get(id);
    if (cell === undefined) throw new RangeError(`the fleet has no ${this.topic.name} of ${JSON.stringify(id)}`);
    return cell;
  }
}
