import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, readAnswer } from './completion-rig.js';
import { type LogMessage, wholeLog } from './conversation-rig.js';
import type { LoadedCall } from './quota-fleet-load.js';
import type { SentMessage } from './log-verdict.js';
import { PODS, type QuotaFleet } from './quota-fleet.js';

/** Whoever is refused tries again after so long, ms. */
const AGAIN_MS = 100;

/** What a client tries until it is answered: a turn, or a completion under an Idempotency-Key. */
interface Wish {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

export interface SentTurn extends SentMessage {
  answeredAt?: number;
}

/** An answer under a key, and the one that was given to the same key again, by another pod. */
export interface Repeat {
  readonly firstAt: number;
  readonly againAt: number;
  readonly isSame: boolean;
}

/** Clients of a fleet that keep asking with one key until they have an answer, in whatever pod. Their name is their caller's key. */
export class PersistentClients {
  /** All calls that were answered, and those of turns alone. */
  readonly calls: LoadedCall[] = [];
  readonly turnCalls: LoadedCall[] = [];
  readonly sent: SentTurn[] = [];
  readonly repeats: Repeat[] = [];
  #wishes = 0;

  constructor(
    private readonly fleet: Pick<QuotaFleet, 'pod'>,
    private readonly caller: string,
    private readonly until: AbortSignal,
  ) {}

  /** Makes a conversation of that id, once the store answers. */
  async create(id: string, model: string): Promise<string> {
    const path = `/v1/conversations/${id}`;
    while ((await this.#send('PUT', path, { model }, 'create')).status !== 200) await sleep(AGAIN_MS);
    return path;
  }

  /** Turns in one of the conversations after the other. */
  async turn(paths: readonly string[], lane: number): Promise<void> {
    while (!this.until.aborted) {
      const [wish, path] = [this.#wish(), paths[(this.#wishes + lane) % paths.length] ?? ''];
      const message: SentTurn = { path, content: `echo:${wish}`, isAcknowledged: false, seen: undefined };
      this.sent.push(message);
      const body = { content: message.content, max_tokens: 20 };
      const answer = await this.#persist({ path: `${path}/turns?onBusy=wait`, body, key: wish });
      if (answer !== undefined) [message.isAcknowledged, message.answeredAt] = [true, performance.now()];
    }
  }

  /** Completions, each of which is asked for again once it is answered. */
  async repeat(model: string): Promise<void> {
    while (!this.until.aborted) {
      const key = this.#wish();
      const body = { model, max_tokens: 20, messages: [{ role: 'user', content: `echo:${key}` }] };
      const wish = { path: '/v1/chat/completions', body, key };
      const first = await this.#persist(wish);
      const firstAt = performance.now();
      const again = await this.#persist(wish);
      if (first === undefined || again === undefined) return;
      this.repeats.push({ firstAt, againAt: performance.now(), isSame: first === again });
    }
  }

  /** The log when nothing runs in it any more: what was left is ended by whoever comes next. */
  async settledLog(path: string): Promise<readonly LogMessage[]> {
    const last = { content: 'echo:last' };
    while ((await this.#send('POST', `${path}/turns?onBusy=wait`, last, undefined)).status !== 200)
      await sleep(AGAIN_MS);
    return wholeLog((page) => this.#send('GET', page, undefined, undefined), path);
  }

  /** @returns the id of the answer; undefined where the load was over before */
  async #persist({ path, body, key }: Wish): Promise<unknown> {
    for (;;) {
      const sentAt = performance.now();
      const { status, body: reply, headers } = await this.#send('POST', path, body, key);
      const error = reply['error'] as { code?: string } | undefined;
      const retryAfter = headers.get('retry-after') ?? undefined;
      const isOver = this.until.aborted && status !== 200;
      const call = { caller: this.caller, pod: 0, sentAt, endedAt: performance.now(), status, retryAfter };
      if (!isOver) this.#note(path, { ...call, code: error?.code ?? '' });
      if (status === 200) return reply['id'];
      if (isOver) return undefined;
      await sleep(AGAIN_MS);
    }
  }

  async #send(method: string, path: string, body: object | undefined, key: string | undefined): Promise<Answer> {
    const pod = this.fleet.pod(Math.floor(Math.random() * PODS));
    const response = await fetch(`${pod.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.caller}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return readAnswer(response);
  }

  #note(path: string, call: LoadedCall): void {
    this.calls.push(call);
    if (path.includes('/turns')) this.turnCalls.push(call);
  }

  #wish(): string {
    this.#wishes += 1;
    return `${this.caller}-${String(this.#wishes)}`;
  }
}
