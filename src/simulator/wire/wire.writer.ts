import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from './exchange.js';

/** How the bytes of an answer are cut into writes. Without any: one write a frame. */
export interface WireHabits {
  /** CRLF instead of LF. */
  readonly crlf?: boolean;
  /** Every byte its own write. */
  readonly bytewise?: boolean;
  /** So many bytes, then a pause. */
  readonly drip?: { readonly bytes: number; readonly everyMs: number };
  /** Every frame is cut after so many bytes. */
  readonly splitAt?: number;
}

/** Writes an answer's body, waits where the client reads slowly, and stops when it has left. */
export class WireWriter {
  constructor(
    private readonly exchange: Exchange,
    private readonly habits: WireHabits,
  ) {}

  /** @throws the signal's reason when the client has left. */
  async write(text: string): Promise<void> {
    const bytes = Buffer.from(this.habits.crlf === true ? text.replaceAll('\n', '\r\n') : text, 'utf8');
    const sizes = this.sliceSizes(bytes.length);
    if (sizes === undefined) {
      return this.put(bytes);
    }
    let start = 0;
    for (const size of sizes) {
      await this.put(bytes.subarray(start, start + size));
      start += size;
      // Node joins what is written in one turn of the event loop.
      await this.pause();
    }
  }

  private async put(bytes: Buffer): Promise<void> {
    this.exchange.signal.throwIfAborted();
    if (bytes.length > 0 && !this.exchange.response.write(bytes)) {
      await once(this.exchange.response, 'drain', { signal: this.exchange.signal });
    }
  }

  private pause(): Promise<unknown> {
    const { drip } = this.habits;
    const { signal } = this.exchange;
    return drip === undefined ? nextTurn(undefined, { signal }) : sleep(drip.everyMs, undefined, { signal });
  }

  private sliceSizes(length: number): readonly number[] | undefined {
    const { bytewise, drip, splitAt } = this.habits;
    const size = bytewise === true ? 1 : drip?.bytes;
    if (size !== undefined) {
      return Array.from({ length: Math.ceil(length / size) }, () => size);
    }
    return splitAt === undefined ? undefined : [splitAt, Math.max(0, length - splitAt)];
  }
}
