import { createHash } from 'node:crypto';

/** Random numbers that follow from their key alone: the same parts give the same sequence, in every process. */
export class SeededRandom {
  private state: number;

  constructor(...key: readonly (string | number)[]) {
    this.state = createHash('sha256').update(key.join('\0')).digest().readUInt32LE(0);
  }

  /** In [0, 1). Mulberry32: 32 bits of state are plenty for prose. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Whole number from `low` to `high`, both possible. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @throws RangeError on an empty list. */
  pick<T>(list: readonly T[]): T {
    const chosen = list.at(this.integer(0, list.length - 1));
    if (chosen === undefined) {
      throw new RangeError('cannot pick from an empty list');
    }
    return chosen;
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) {
      text += this.integer(0, 15).toString(16);
    }
    return text;
  }
}
