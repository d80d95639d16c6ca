interface Scored {
  readonly member: string;
  readonly score: number;
}

/** Members in the order of their scores, equal scores by name; as a sorted set of Redis. */
export class ScoreSet {
  private readonly scores = new Map<string, number>();
  private readonly ordered: Scored[] = [];

  get size(): number {
    return this.ordered.length;
  }

  get first(): Scored | undefined {
    return this.ordered[0];
  }

  get last(): Scored | undefined {
    return this.ordered.at(-1);
  }

  scoreOf(member: string): number | undefined {
    return this.scores.get(member);
  }

  /** Adds it or moves it. */
  set(member: string, score: number): void {
    this.delete(member);
    const entry = { member, score };
    this.scores.set(member, score);
    // Scores mostly rise, so most come last.
    if (this.last === undefined || precedes(this.last, entry)) this.ordered.push(entry);
    else this.ordered.splice(this.positionOf(entry), 0, entry);
  }

  delete(member: string): boolean {
    const score = this.scores.get(member);
    if (score === undefined) return false;
    this.scores.delete(member);
    const position = this.positionOf({ member, score });
    if (position === 0) this.ordered.shift();
    else this.ordered.splice(position, 1);
    return true;
  }

  /** Takes out all whose score is at most this. */
  deleteUpTo(score: number): void {
    while (this.first !== undefined && this.first.score <= score) this.delete(this.first.member);
  }

  [Symbol.iterator](): IterableIterator<Scored> {
    return this.ordered.values();
  }

  /** Index of the first entry that does not precede this one. */
  private positionOf(entry: Scored): number {
    let low = 0;
    let high = this.ordered.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.ordered[middle];
      if (other !== undefined && precedes(other, entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function precedes(one: Scored, other: Scored): boolean {
  return one.score < other.score || (one.score === other.score && one.member < other.member);
}
