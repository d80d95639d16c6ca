import { ANSWER_LIMITS as LIMITS } from './answer.store.js';

export interface KeptAnswer {
  readonly purpose: string;
  readonly text: string;
  /** Ms. */
  readonly end: number;
}

interface Stored extends KeptAnswer {
  readonly name: string;
  readonly bytes: number;
}

/** Answers of one shelf within its bound. Those that end first are the first to go. */
export class MemoryShelf {
  readonly #answers = new Map<string, Stored>();
  /** By their ends, and of equal ones by name: as a sorted set has them. */
  readonly #byEnd: Stored[] = [];
  #bytes = 0;

  /** The first that is there. */
  find(names: readonly string[], ms: number): KeptAnswer | undefined {
    for (const name of names) {
      const answer = this.#answers.get(name);
      if (answer !== undefined && ms < answer.end) return answer;
    }
    return undefined;
  }

  /** @param mostBytes - of the whole shelf */
  keep(name: string, answer: KeptAnswer, ms: number, mostBytes: number): void {
    const bytes = Buffer.byteLength(answer.purpose) + 1 + Buffer.byteLength(answer.text) + LIMITS.overheadBytes;
    const before = this.#answers.get(name);
    if (before !== undefined) this.#drop(before);
    if (bytes > mostBytes || !this.#makeRoom(bytes, ms, mostBytes)) return;
    const stored = { ...answer, name, bytes };
    this.#answers.set(name, stored);
    const place = this.#placeOf(stored);
    // Nearly always: those that came later end later.
    if (place === this.#byEnd.length) this.#byEnd.push(stored);
    else this.#byEnd.splice(place, 0, stored);
    this.#bytes += bytes;
  }

  #makeRoom(bytes: number, ms: number, mostBytes: number): boolean {
    for (let round = 0; round < LIMITS.rounds; round += 1) {
      const [first] = this.#byEnd;
      if (first === undefined || (ms < first.end && this.#bytes + bytes <= mostBytes)) return true;
      this.#drop(first);
    }
    return this.#bytes + bytes <= mostBytes;
  }

  #drop(stored: Stored): void {
    this.#answers.delete(stored.name);
    this.#byEnd.splice(this.#placeOf(stored), 1);
    this.#bytes -= stored.bytes;
  }

  /** Where it stands, or would stand. */
  #placeOf(stored: Stored): number {
    let low = 0;
    let high = this.#byEnd.length;
    const last = this.#byEnd[high - 1];
    if (last !== undefined && isBefore(last, stored)) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#byEnd[middle];
      if (other !== undefined && isBefore(other, stored)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(one: Stored, other: Stored): boolean {
  return one.end === other.end ? one.name < other.name : one.end < other.end;
}
