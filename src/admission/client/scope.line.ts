import {
  type AcquireAnswer,
  type AdmissionStore,
  type BeatAnswer,
  type CancelAnswer,
  LEASE_MS,
  type LearnedLimit,
  type Scope,
  type ScopeCommand,
  type ScopeNews,
  type SettleAnswer,
} from '../admission.store.js';
import type { Claim } from './claim.js';
import type { Ground } from './ground.js';

/** What a call took. */
export interface Spending {
  readonly tokens: number;
  readonly microUsd: number;
}

/** Over the hold of a strict claim, so that whoever calls has surely given up by then, ms. */
const STRICT_SLACK_MS = 1_000;

/** The commands of one scope. Each rejects where the store does not answer. */
export class ScopeLine {
  /** @param hear what every answer brings, late ones included */
  constructor(
    private readonly scope: Scope,
    private readonly ground: Ground,
    private readonly hear: (news: ScopeNews, sentAt: number) => void,
  ) {}

  acquire({ id, request, until }: Claim): Promise<AcquireAnswer> {
    const { flow, weight, tokens, microUsd, holdMs, isStrict } = request;
    const leaseMs = isStrict ? Math.ceil(holdMs) + STRICT_SLACK_MS : LEASE_MS;
    const waitMs = Math.max(0, Math.floor(until - this.ground.environment.now()));
    const command = { id, flow, weight, tokens, microUsd, waitMs, leaseMs, ...this.#command() };
    return this.#ask((store) => store.acquire(command));
  }

  settle(id: string, { tokens, microUsd }: Spending): Promise<SettleAnswer> {
    return this.#ask((store) => store.settle({ id, tokens, microUsd, ...this.#command() }));
  }

  cancel(id: string): Promise<CancelAnswer> {
    return this.#ask((store) => store.cancel({ id, ...this.#command() }));
  }

  beat(ids: readonly string[]): Promise<BeatAnswer> {
    return this.#ask((store) => store.beat({ ids, ...this.#command() }));
  }

  hold(forMs: number): Promise<ScopeNews> {
    return this.#ask((store) => store.hold({ forMs, ...this.#command() }));
  }

  learn(limits: readonly LearnedLimit[], forMs: number): Promise<ScopeNews> {
    return this.#ask((store) => store.learn({ limits, forMs, ...this.#command() }));
  }

  async #ask<Answer extends ScopeNews>(question: (store: AdmissionStore) => Promise<Answer>): Promise<Answer> {
    const sentAt = this.ground.environment.now();
    try {
      return await this.ground.line.ask(question, (news) => {
        this.hear(news, sentAt);
      });
    } catch (error) {
      this.ground.failed(error, this.#probe);
      throw error;
    }
  }

  readonly #probe = (): Promise<unknown> =>
    this.ground.line.ask((store) => store.beat({ ids: [], ...this.#command() }));

  #command(): ScopeCommand {
    const { scope, ground } = this;
    return { scope, process: ground.process, seen: ground.hasSeen(scope), localMs: ground.localMs(scope) };
  }
}
