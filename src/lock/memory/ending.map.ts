/**
 * Values that end in the order in which they are set, cleared away from the front. One iterator stays at the front: a new one
 * would have to pass over the gaps that all deleted entries left.
 */
export class EndingMap<Value> {
  private readonly values = new Map<string, Value>();
  private front = this.values.entries();
  private next: readonly [string, Value] | undefined;

  constructor(private readonly endOf: (value: Value) => number) {}

  get size(): number {
    return this.values.size;
  }

  get(key: string): Value | undefined {
    return this.values.get(key);
  }

  set(key: string, value: Value): void {
    this.values.delete(key);
    this.values.set(key, value);
  }

  delete(key: string): void {
    this.values.delete(key);
  }

  /** Clears away what has ended by `time`, at most so many at once. */
  clear(time: number, atMost: number): void {
    for (let cleared = 0; cleared < atMost; cleared += 1) {
      const first = this.first();
      if (first === undefined || this.endOf(first[1]) > time) return;
      this.values.delete(first[0]);
    }
  }

  private first(): readonly [string, Value] | undefined {
    while (this.next === undefined || this.values.get(this.next[0]) !== this.next[1]) {
      const step = this.front.next();
      if (step.done === true) {
        // All there was has been cleared or deleted; an iterator that is done does not see what comes later.
        this.front = this.values.entries();
        this.next = undefined;
        return undefined;
      }
      this.next = step.value;
    }
    return this.next;
  }
}
