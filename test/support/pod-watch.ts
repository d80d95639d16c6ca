import { Agent, request } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';

/** What somebody was told who asks a pod itself, on connections that are kept alive. */
export interface Sighting {
  readonly path: '/ready' | '/v1/models';
  /** 0: nobody answered. */
  readonly status: number;
  /** The pod says that it closes the connection after this answer. */
  readonly isClosing: boolean;
  /** Of the connection, where nobody answered. */
  readonly code: string;
}

const EVERY_MS = 20;

/**
 * Asks a pod, again and again, whether it is ready and whether it takes calls; for a while after it has said that it is not ready, or
 * until it takes none.
 */
export class PodWatch {
  readonly sightings: Sighting[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly over: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly unreadyForMs: number,
  ) {
    this.over = this.#watch();
  }

  async #watch(): Promise<void> {
    let end = Infinity;
    do {
      const [readiness, call] = [await this.#ask('/ready'), await this.#ask('/v1/models')];
      this.sightings.push(readiness, call);
      if (readiness.status === 503) end = Math.min(end, performance.now() + this.unreadyForMs);
      if (call.status !== 200) break;
      await pass(EVERY_MS);
    } while (performance.now() < end);
    this.#agent.destroy();
  }

  #ask(path: Sighting['path']): Promise<Sighting> {
    const headers = { authorization: `Bearer ${this.key}` };
    return new Promise((resolve) => {
      const call = request(this.url + path, { agent: this.#agent, headers }, (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        response.resume().once('end', () => {
          resolve({ path, status, isClosing: answered.connection === 'close', code: '' });
        });
      });
      call.once('error', (error) => {
        resolve({ path, status: 0, isClosing: false, code: 'code' in error ? String(error.code) : error.message });
      });
      call.end();
    });
  }
}
