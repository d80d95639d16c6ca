import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import type { FuzzRequest } from './http-fuzz.requests.js';
import { parseAnswer } from './raw-http.js';

/** Nothing that is asked here takes so long. */
const PATIENCE_MS = 30_000;

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What came, or why nothing did. `closed`: the connection was, without a word. */
export type FuzzOutcome = FuzzAnswer | { readonly failure: 'closed' | 'broken off' | 'no answer in time' };

/** Sends what a fuzzer makes up. Close it. */
export class FuzzClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #port: number;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  send(message: FuzzRequest): Promise<FuzzOutcome> {
    return message.kind === 'raw' ? this.#write(message.bytes) : this.#ask(message, true);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(message: Extract<FuzzRequest, { kind: 'message' }>, mayRetry: boolean): Promise<FuzzOutcome> {
    const outcome = await new Promise<FuzzOutcome | 'stale'>((resolve) => {
      const { method, path, headers, body } = message;
      const length = body === undefined ? {} : { 'content-length': String(body.length) };
      const sent = request({
        ...{ host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, timeout: PATIENCE_MS },
        headers: { ...headers, ...length },
      });
      sent
        .once('response', (response) => {
          const pieces: Buffer[] = [];
          response
            .on('data', (piece: Buffer) => pieces.push(piece))
            .once('close', () => {
              const text = Buffer.concat(pieces).toString('utf8');
              const answer = { status: response.statusCode ?? 0, headers: response.headers, body: text };
              resolve(response.complete ? answer : { failure: 'broken off' });
            });
        })
        .once('timeout', () => {
          resolve({ failure: 'no answer in time' });
          sent.destroy();
        })
        // A connection that was kept may be closed just when it is used again.
        .once('error', () => {
          resolve(sent.reusedSocket && mayRetry ? 'stale' : { failure: 'closed' });
        })
        .once('upgrade', () => {
          resolve({ failure: 'broken off' });
        })
        .end(body);
    });
    return outcome === 'stale' ? this.#ask(message, false) : outcome;
  }

  #write(bytes: Buffer): Promise<FuzzOutcome> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1');
      let text = '';
      const timer = setTimeout(() => {
        resolve({ failure: 'no answer in time' });
        socket.destroy();
      }, PATIENCE_MS);
      socket
        .setEncoding('latin1')
        .on('data', (piece: string) => (text += piece))
        .on('error', () => undefined)
        .once('close', () => {
          clearTimeout(timer);
          resolve(text === '' ? { failure: 'closed' } : parseAnswer(Buffer.from(text, 'latin1').toString('utf8')));
        })
        .write(bytes);
    });
  }
}
