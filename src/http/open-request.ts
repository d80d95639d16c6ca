import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGoneError } from './client-gone.error.js';

/** A request whose answer is not complete yet. */
export class OpenRequest {
  #abort: AbortController | undefined;
  #reason: Error | undefined;
  #isOver = false;
  #onOver: (() => void)[] = [];
  #onAbort: ((reason: Error) => void) | undefined;

  /** @param ordinal - which one it is on its connection: the first is 1 */
  constructor(
    private readonly request: Pick<IncomingMessage, 'complete'>,
    private readonly response: Pick<ServerResponse, 'headersSent'>,
    readonly ordinal = 1,
  ) {}

  /** Aborts when nobody waits for the answer any more, or when the drain's grace is over. Made on first use. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the whole request has arrived. */
  get hasArrived(): boolean {
    return this.request.complete;
  }

  /** Whether the answer's head is out, or waits for its turn. */
  get isAnswered(): boolean {
    return this.response.headersSent;
  }

  /** Tells the work to stop; the first reason holds. No effect once the answer is complete. */
  abort(reason: Error): void {
    if (this.#isOver || this.#reason !== undefined) return;
    this.#reason = reason;
    this.#abort?.abort(reason);
    this.#onAbort?.(reason);
  }

  /** The one who is told beside the signal, without the price of one: whoever reads the body, before there is any work. */
  set onAbort(listener: ((reason: Error) => void) | undefined) {
    this.#onAbort = listener;
    if (this.#reason !== undefined) listener?.(this.#reason);
  }

  /** Calls back once, when the answer is complete or the connection closed; at once if that has happened. */
  onOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#onOver.push(listener);
  }

  /** The last byte was handed to the socket, or the connection is gone. */
  end(outcome: 'complete' | 'client gone'): void {
    if (this.#isOver) return;
    if (outcome === 'client gone') this.abort(new ClientGoneError());
    this.#isOver = true;
    for (const listener of this.#onOver) listener();
    this.#onOver = [];
  }
}
