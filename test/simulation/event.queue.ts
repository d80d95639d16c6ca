export interface Scheduled {
  at: number;
  order: number;
  readonly run: () => void;
  /** The process it belongs to: it waits while that process is paused and is dropped when it is killed. */
  readonly owner: string | undefined;
  isCancelled: boolean;
}

/** Events by time, equal times in the order of their scheduling: a binary heap. */
export class EventQueue {
  readonly #heap: Scheduled[] = [];
  #orders = 0;

  add(at: number, run: () => void, owner?: string): Scheduled {
    return this.again({ at, order: 0, run, owner, isCancelled: false }, at);
  }

  again(event: Scheduled, at: number): Scheduled {
    event.at = at;
    event.order = this.#orders;
    this.#orders += 1;
    this.#heap.push(event);
    this.#rise(this.#heap.length - 1);
    return event;
  }

  next(): Scheduled | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first !== undefined && last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #rise(start: number): void {
    for (let index = start; index > 0;) {
      const parent = (index - 1) >> 1;
      if (!this.#precedes(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(start: number): void {
    for (let index = start; ;) {
      const left = 2 * index + 1;
      const child = this.#precedes(left + 1, left) ? left + 1 : left;
      if (!this.#precedes(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  #precedes(one: number, other: number): boolean {
    const first = this.#heap[one];
    const second = this.#heap[other];
    if (first === undefined || second === undefined) return false;
    return first.at < second.at || (first.at === second.at && first.order < second.order);
  }

  #swap(one: number, other: number): void {
    const first = this.#heap[one];
    const second = this.#heap[other];
    if (first === undefined || second === undefined) return;
    this.#heap[one] = second;
    this.#heap[other] = first;
  }
}
