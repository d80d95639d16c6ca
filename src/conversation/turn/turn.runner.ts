import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../http/index.js';
import type { ClientTimer } from '../../store/index.js';
import { CONVERSATION_SETTINGS, type ConversationSettings, RUN_PORTS } from '../conversation.options.js';
import { TurnNews } from './turn.news.js';
import { TurnObserver } from './turn.observer.js';
import { type RunPorts, type RunStart, TurnRun } from './turn.run.js';

/** The turns that this process runs, and how it lets go of them. */
@Injectable()
export class TurnRunner implements BeforeApplicationShutdown {
  readonly #runs = new Map<string, TurnRun>();
  #closing: Promise<void> | undefined;

  constructor(
    @Inject(RUN_PORTS) private readonly ports: RunPorts,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: Pick<ConversationSettings, 'graceMs'>,
    private readonly news: TurnNews,
    private readonly observer: TurnObserver,
  ) {}

  /** Runs a turn; whoever asked for it need not stay. */
  begin(given: RunStart): TurnRun {
    const { turn, request } = given;
    const span = request.span?.child('conversation turn', { attributes: { 'coordinator.turn.id': turn.id } });
    const start = span === undefined ? given : { ...given, request: { ...request, span } };
    const run = new TurnRun(start, this.ports);
    this.#runs.set(turn.id, run);
    this.observer.begun();
    if (this.#closing !== undefined) run.stop('closing');
    const deafen = this.news.hear(turn.id, (kind) => {
      if (kind === 'cancelled') run.stop('cancelled');
      else if (kind === 'resumed') void this.#lookUp(start, run);
    });
    const over = (): void => {
      deafen();
      this.#runs.delete(turn.id);
      if (run.failure !== undefined) this.observer.failed(turn.id, request.requestId, run.failure);
    };
    run.ended.then(
      (ended) => {
        over();
        this.observer.ended(ended.turn);
        span?.set({ 'coordinator.turn.status': ended.turn.status });
        span?.end(run.failure?.code);
      },
      (error: unknown) => {
        over();
        this.observer.lost(turn.id, error);
        span?.end('lost');
      },
    );
    return run;
  }

  /** Resolves when a turn is not run by this process, or not any more: its lock is free then. */
  async released(turnId: string): Promise<void> {
    await this.#runs.get(turnId)?.ended.catch(() => undefined);
  }

  /** @throws ApiError draining */
  assertOpen(): void {
    if (this.#closing === undefined) return;
    throw new ApiError('draining', 'the server is shutting down and begins no new turns');
  }

  /**
   * Begins no more, lets turns go on up to the grace, then ends the rest as incomplete. Never rejects; nothing is left running.
   *
   * @param graceMs - what is left of the process's grace; default: that of the options. The first call decides
   */
  close(graceMs = this.settings.graceMs): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    let grace: ClientTimer | undefined;
    const over = new Promise<void>((resolve) => {
      grace = this.ports.environment.after(graceMs, resolve);
    });
    await Promise.race([this.#idle(), over]);
    grace?.cancel();
    for (const run of this.#runs.values()) run.stop('closing');
    await this.#idle();
  }

  async #idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended));
  }

  /** A message may have been lost with the connection. */
  async #lookUp({ place, turn }: RunStart, run: TurnRun): Promise<void> {
    try {
      if ((await this.ports.store.findTurn(place, turn.id))?.isCancelled === true) run.stop('cancelled');
    } catch (error) {
      this.observer.unheard(turn.id, error);
    }
  }
}
