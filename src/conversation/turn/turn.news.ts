import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type ClientEnvironment, type ClientTimer, StoreError } from '../../store/index.js';
import {
  CONVERSATION_SETTINGS,
  CONVERSATION_STORE,
  type ConversationSettings,
  TURN_ENVIRONMENT,
} from '../conversation.options.js';
import type { ConversationStore, TurnNews as News } from '../store/index.js';
import { TurnPulse } from './turn.pulse.js';

type Listener = (kind: News['kind'] | 'resumed') => void;

/** Until a subscription that failed is tried again, ms. */
const RESUBSCRIBE_MS = 500;

/** The one subscription of this process: what the store tells of turns that it runs or reads. */
@Injectable()
export class TurnNews implements OnApplicationBootstrap, OnApplicationShutdown {
  /** The name under which the store knows this process. */
  readonly process = randomUUID();
  readonly #listeners = new Map<string, Set<Listener>>();
  #subscription: Promise<void> | undefined;
  #again: ClientTimer | undefined;
  #isOver = false;

  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    @Inject(TURN_ENVIRONMENT) private readonly environment: ClientEnvironment,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: Pick<ConversationSettings, 'quietMs'>,
  ) {}

  onApplicationBootstrap(): void {
    this.#subscribe();
  }

  /** The subscription ends with the store's connections; here nothing of it is left. */
  async onApplicationShutdown(): Promise<void> {
    this.#isOver = true;
    this.#again?.cancel();
    if (this.#subscription !== undefined) await this.store.unsubscribe(this.process);
  }

  /** Calls with what is told of a turn; `resumed`: something may have been missed. @returns takes the listener off */
  hear(turnId: string, listener: Listener): () => void {
    this.#subscribe();
    const listeners = this.#listeners.get(turnId) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(turnId, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(turnId) === listeners) this.#listeners.delete(turnId);
    };
  }

  /** For whoever reads a turn. To be closed. */
  pulse(turnId: string, signal: AbortSignal): TurnPulse {
    const { environment, settings } = this;
    return new TurnPulse((listener) => this.hear(turnId, listener), { signal, environment, quietMs: settings.quietMs });
  }

  #subscribe(): void {
    if (this.#isOver) return;
    const resumed = (): void => {
      for (const listeners of this.#listeners.values()) for (const listener of [...listeners]) listener('resumed');
    };
    this.#subscription ??= this.store
      .subscribe(
        this.process,
        ({ kind, turnId }) => {
          for (const listener of [...(this.#listeners.get(turnId) ?? [])]) listener(kind);
        },
        resumed,
      )
      .then(resumed)
      .catch((error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        this.#subscription = undefined;
        this.#subscribeLater();
      });
  }

  #subscribeLater(): void {
    this.#again?.cancel();
    if (this.#isOver) return;
    this.#again = this.environment.after(RESUBSCRIBE_MS, () => {
      this.#subscribe();
    });
  }
}
