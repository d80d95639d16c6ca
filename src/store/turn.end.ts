/** What is done when all that came in with the present turn of the event loop has been heard. */
export class TurnEnd {
  #works: (() => void)[] = [];
  #last: () => void = () => undefined;
  #isDue = false;

  /** Calls once at the end of this turn, with what others have asked for in it, in their order. It must not throw. */
  then(work: () => void): void {
    this.#works.push(work);
    this.#schedule();
  }

  /** As then(), behind all of those; one at a time. */
  lastly(work: () => void): void {
    this.#last = work;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    // What these ask for belongs to this turn as well.
    for (const work of this.#works) work();
    this.#works = [];
    const last = this.#last;
    this.#last = () => undefined;
    this.#isDue = false;
    last();
  };
}
