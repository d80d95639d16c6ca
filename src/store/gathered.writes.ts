import type { Redis } from 'ioredis';
import type { TurnEnd } from './turn.end.js';

/** All commands of a turn of the event loop go out in one write at its end: a write costs more than a command. */
export class GatheredWrites {
  #gathering: Redis['stream'] | undefined;

  constructor(private readonly turn: TurnEnd) {}

  /** What is written to this client from now on waits for the end of the turn. */
  gather({ stream }: Redis): void {
    if (this.#gathering === stream) return;
    this.#gathering?.uncork();
    this.#gathering = stream;
    stream.cork();
    this.turn.lastly(() => {
      this.#gathering = undefined;
      stream.uncork();
    });
  }
}
