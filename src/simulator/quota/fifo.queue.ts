/** Spent places that are kept before the array is cut. */
const SLACK = 1_024;

/** First in, first out; every step in constant time on average. */
export class FifoQueue<T> {
  private items: T[] = [];
  private start = 0;

  get first(): T | undefined {
    return this.items[this.start];
  }

  get last(): T | undefined {
    return this.start < this.items.length ? this.items.at(-1) : undefined;
  }

  push(item: T): void {
    this.items.push(item);
  }

  /** Drops the first. */
  shift(): void {
    this.start += 1;
    if (this.start >= SLACK && this.start * 2 >= this.items.length) {
      this.items = this.items.slice(this.start);
      this.start = 0;
    }
  }

  *[Symbol.iterator](): Generator<T> {
    for (let index = this.start; index < this.items.length; index += 1) {
      const item = this.items[index];
      if (item !== undefined) yield item;
    }
  }
}
