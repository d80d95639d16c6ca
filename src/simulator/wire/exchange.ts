import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** One request and its answer on the wire. */
export class Exchange {
  private readonly gone = new AbortController();
  private wasCutByUs = false;

  /** @param closing aborts when the simulator closes */
  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    closing: AbortSignal,
  ) {
    const stop = (): void => {
      this.gone.abort(closing.reason);
    };
    closing.addEventListener('abort', stop, { once: true });
    response.once('close', () => {
      closing.removeEventListener('abort', stop);
      this.gone.abort(new Error('the client left'));
    });
    // A write that meets a closed socket is no fault here: `signal` tells.
    response.on('error', () => undefined);
    if (closing.aborted) {
      stop();
    }
  }

  /** Aborts as soon as nobody waits for an answer any more: the client left, it has been answered, or the simulator closes. */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  /** How it ended: the whole answer is out, a script ended it before, or the client left before. Final once the response has closed. */
  get outcome(): 'answered' | 'cut' | 'aborted' {
    if (this.wasCutByUs) {
      return 'cut';
    }
    return this.response.writableFinished ? 'answered' : 'aborted';
  }

  /** True when there is nobody to answer any more. */
  get isGone(): boolean {
    return this.signal.aborted || this.response.destroyed || this.request.errored !== null;
  }

  /** The status on the wire; undefined as long as no head was sent. */
  get status(): number | undefined {
    return this.response.headersSent ? this.response.statusCode : undefined;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
  }

  /** A whole answer at once. */
  send(status: number, headers: OutgoingHttpHeaders, body: string): void {
    const bytes = Buffer.from(body, 'utf8');
    this.response.writeHead(status, { ...headers, 'content-length': bytes.length });
    this.response.end(bytes);
  }

  sendJson(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): void {
    this.send(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
  }

  /** Ends the body cleanly where it is. */
  endEarly(): void {
    this.wasCutByUs = true;
    this.response.end();
  }

  /** Ends the connection as a crash does, after everything written so far is out. */
  async cut(): Promise<void> {
    await this.flushed();
    this.wasCutByUs = true;
    this.response.destroy();
  }

  /** Resets the connection (TCP RST). */
  reset(): void {
    this.wasCutByUs = true;
    this.response.socket?.resetAndDestroy();
  }

  /** Resolves when everything written so far has been handed to the operating system. */
  async flushed(): Promise<void> {
    // Node holds what is written in one turn of the event loop until its end.
    await nextTurn();
    while ((this.response.socket?.writableLength ?? 0) > 0) {
      await sleep(1, undefined, { signal: this.signal });
    }
  }
}
