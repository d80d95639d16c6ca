/**
 * Steps that belong to a moment but wait for a fact: each runs when its fact is known and every earlier one has run. So what is found out late still takes
 * effect in the order in which it happened.
 */
export class InOrder {
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  /** Rejects as the fact or the step does; the later ones run all the same. */
  run<Fact, Result>(fact: Promise<Fact> | Fact, step: (fact: Fact) => Result): Promise<Result> {
    this.waiting += 1;
    const turn = Promise.allSettled([fact, this.last])
      .then(() => fact)
      .then(step)
      .finally(() => {
        this.waiting -= 1;
      });
    this.last = turn;
    return turn;
  }

  /** True: no step waits. */
  get isDone(): boolean {
    return this.waiting === 0;
  }

  /** Resolves when every step so far has run. */
  async done(): Promise<void> {
    await Promise.allSettled([this.last]);
  }
}
