import type { JsonObject } from '../../ai/index.js';
import { ApiError, toApiError } from '../../http/index.js';
import { type Lease, LockLostError } from '../../lock/index.js';
import { type ClientEnvironment, StoreError } from '../../store/index.js';
import type { Encoding } from '../../tokens/index.js';
import type { ConversationSettings } from '../conversation.options.js';
import type {
  Conversation,
  ConversationStore,
  NewMessage,
  Place,
  TellAnswer,
  Turn,
  TurnEnd,
  TurnEvent,
  WindowHead,
} from '../store/index.js';
import { EventWriter } from './event.writer.js';
import type { Generation, GenerationRequest, TurnGenerator } from './generator.js';
import type { MessageCounter } from './message.counter.js';
import { endError } from './turn.errors.js';
import { TurnReply } from './turn.reply.js';
import { type StopReason, TurnStop } from './turn.stop.js';
import { untilAborted } from './until-aborted.js';

/** Until an end that the store did not take is tried again, ms. */
const RETRY_MS = 200;
/** How long the end of a turn waits for the count of its answer, ms; without it, it is counted when it is needed. */
const COUNT_PATIENCE_MS = 250;

export interface RunPorts {
  readonly store: ConversationStore;
  readonly generator: TurnGenerator;
  readonly counter: MessageCounter;
  readonly environment: ClientEnvironment;
  readonly settings: Pick<ConversationSettings, 'deltaMs'>;
}

export interface RunStart {
  readonly place: Place;
  /** Acknowledged by the store, under the lease. */
  readonly turn: Turn;
  readonly lease: Lease;
  readonly request: Omit<GenerationRequest, 'signal' | 'body'>;
  /** The request as the provider gets it; read when it is sent. */
  readonly body: () => Promise<JsonObject>;
  /** JSON of the window that is sent. */
  readonly window: string;
  readonly head: WindowHead | undefined;
  readonly encoding: Encoding;
}

export interface EndedTurn {
  readonly turn: Turn;
  readonly conversation: Conversation;
}

interface Outcome {
  readonly status: TurnEnd['status'];
  readonly error: ApiError | undefined;
}

/** One turn from its acknowledgement to its end, whoever listens. Its lock is released last. */
export class TurnRun {
  /** @throws LockLostError, ApiError not_found: its end is not for this run to write */
  readonly ended: Promise<EndedTurn>;
  /** Why its answer is not whole. */
  failure: ApiError | undefined;
  readonly #stop = new AbortController();
  readonly #reply = new TurnReply();
  readonly #writer: EventWriter;

  constructor(
    private readonly start: RunStart,
    private readonly ports: RunPorts,
  ) {
    const { place, turn, lease } = start;
    this.#writer = new EventWriter({
      store: ports.store,
      environment: ports.environment,
      deltaMs: ports.settings.deltaMs,
      place,
      turnId: turn.id,
      fence: lease.fence,
      answered: (answer) => {
        this.#heed(answer);
      },
    });
    this.ended = this.#run();
    // Whoever waits for it hears of it; nobody has to.
    this.ended.catch(() => undefined);
  }

  /** The first reason counts. */
  stop(reason: StopReason): void {
    if (!this.#stop.signal.aborted) this.#stop.abort(new TurnStop(reason));
  }

  async #run(): Promise<EndedTurn> {
    const { lease, request } = this.start;
    const lose = (): void => {
      const reason: unknown = lease.signal.reason;
      // Told that the process closes, the lock is still held for a moment: long enough to keep what has come.
      this.stop(reason instanceof LockLostError && reason.reason === 'closing' ? 'closing' : 'lost');
    };
    lease.signal.addEventListener('abort', lose, { once: true });
    const deadline = this.ports.environment.after(request.deadlineMs, () => {
      this.stop('late');
    });
    try {
      if (lease.signal.aborted) lose();
      return await this.#end(await this.#generate());
    } finally {
      deadline.cancel();
      lease.signal.removeEventListener('abort', lose);
      await lease.release();
    }
  }

  async #generate(): Promise<Outcome> {
    const { request, body } = this.start;
    const { signal } = this.#stop;
    const generation = async (): Promise<Generation['events']> =>
      (await this.ports.generator.generate({ ...request, body: await body(), signal })).events;
    try {
      for await (const { chunk } of untilAborted(generation, signal)) {
        this.#reply.add(chunk);
        this.#writer.add(chunk);
      }
    } catch (error) {
      return this.#brokenOff(error);
    }
    const { isEmpty, isStopped, isFinished } = this.#reply;
    if (!isEmpty) return this.#outcome(isFinished ? 'complete' : 'incomplete');
    // It was paid, and another try would end likewise: what ended it is the answer.
    if (isStopped) return this.#outcome('incomplete');
    return this.#outcome('failed', new ApiError('upstream_error', 'the model gave no answer'));
  }

  #brokenOff(error: unknown): Outcome {
    const { signal } = this.#stop;
    const stop: unknown = signal.aborted ? signal.reason : error;
    const failed = this.#reply.isEmpty ? 'failed' : 'incomplete';
    if (!(stop instanceof TurnStop)) {
      return this.#outcome(failed, toApiError(error, { requestId: this.start.request.requestId }));
    }
    if (stop.reason === 'cancelled') return this.#outcome('incomplete');
    if (stop.reason === 'late') return this.#outcome(failed, new ApiError('timeout', 'the time this turn had is over'));
    if (stop.reason === 'lost' || stop.reason === 'deleted') throw this.#loss(stop.reason);
    return this.#outcome(
      'incomplete',
      new ApiError('draining', 'the server is shutting down: the answer was cut short'),
    );
  }

  #outcome(status: Outcome['status'], error?: ApiError): Outcome {
    this.failure = error;
    return { status, error };
  }

  async #end(outcome: Outcome): Promise<EndedTurn> {
    const reply = await this.#counted(this.#reply.message(outcome.status === 'complete'));
    let events: readonly TurnEvent[] | undefined;
    for (;;) {
      // A lock that was lost leaves the end to whoever comes next.
      this.start.lease.assertHeld();
      try {
        events ??= await this.#writer.close();
        return await this.#writeEnd(outcome, reply, events);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        await new Promise<void>((resolve) => this.ports.environment.after(RETRY_MS, resolve));
      }
    }
  }

  async #writeEnd({ status, error }: Outcome, reply: NewMessage, events: readonly TurnEvent[]): Promise<EndedTurn> {
    const { place, turn, lease, window, head } = this.start;
    const answer = await this.ports.store.endTurn(place, turn.id, {
      fence: lease.fence,
      status,
      messages: [reply],
      window,
      head,
      error: endError(error),
      events: [...events, { name: error === undefined ? 'done' : 'error', data: '{}' }],
    });
    if (answer.kind === 'ended') return answer;
    throw this.#loss(answer.kind === 'fenced' ? 'lost' : 'deleted');
  }

  #loss(reason: 'lost' | 'deleted'): Error {
    if (reason === 'deleted')
      return new ApiError('not_found', 'the conversation was deleted while its turn was running');
    const { key, fence, signal } = this.start.lease;
    return signal.reason instanceof LockLostError ? signal.reason : new LockLostError(key, 'gone', { fence });
  }

  async #counted(reply: NewMessage): Promise<NewMessage> {
    const options = { patienceMs: COUNT_PATIENCE_MS };
    return { ...reply, tokens: await this.ports.counter.keep(reply, this.start.encoding, options) };
  }

  #heed(answer: TellAnswer): void {
    if (answer === 'added') return;
    if (answer === 'cancelled') this.stop('cancelled');
    else this.stop(answer === 'missing' ? 'deleted' : 'lost');
  }
}
