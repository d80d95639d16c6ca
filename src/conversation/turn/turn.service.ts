import { Inject, Injectable } from '@nestjs/common';
import { type JsonObject, parseObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';
import type { Lease } from '../../lock/index.js';
import { CONVERSATION_STORE } from '../conversation.options.js';
import { type ConversationStore, type Place, parseTurnId } from '../store/index.js';
import { asNew } from './chat.messages.js';
import { ConversationLocks } from './conversation.locks.js';
import { timeLeft, type TurnAsk, type TurnInput } from './turn.ask.js';
import { conversationMissing, turnInProgress, turnMissing } from './turn.errors.js';
import { type AskedTurn, TurnRuns } from './turn.runs.js';
import { type KeyedAsk, TurnKeys } from './turn.keys.js';

/** Turns of conversations: one after the other, each once, and answered whoever stays to read. */
@Injectable()
export class TurnService {
  constructor(
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    private readonly locks: ConversationLocks,
    private readonly runs: TurnRuns,
    private readonly keys: TurnKeys,
  ) {}

  /**
   * Resolves when the messages are in the store.
   *
   * @throws ApiError for every refusal; then nothing is stored and nobody was called
   */
  async ask(ask: TurnAsk, input: TurnInput): Promise<AskedTurn> {
    const keyed = await this.keys.read(ask);
    return told(keyed) ?? this.#begin(keyed.ask, input);
  }

  /**
   * Answers the last turn again, in its place.
   *
   * @param changes - in place of what it was asked with
   * @throws ApiError for every refusal
   */
  async askAgain(ask: TurnAsk, turnId: string, changes: JsonObject): Promise<AskedTurn> {
    const keyed = await this.keys.read(ask);
    // One that was refused stands in the place of the one that it was to answer again.
    const again = keyed.refused?.id ?? turnId;
    return told(keyed) ?? this.#begin(keyed.ask, await this.#inputAgain(ask.place, again, changes));
  }

  async #begin(ask: TurnAsk, input: TurnInput): Promise<AskedTurn> {
    const { place, terms } = ask;
    this.runs.assertOpen();
    const conversation = await this.store.find(place);
    if (conversation === undefined) throw conversationMissing();
    const model = this.runs.model(terms.caller, [input.model, conversation.model]);
    const lease = await this.#lock(ask);
    return 'turn' in lease ? lease : this.#held(lease, () => this.runs.begin(ask, input, { model, lease }));
  }

  /** @returns the turn, where whoever has the lock has begun this very one @throws ApiError turn_in_progress, timeout */
  async #lock(ask: TurnAsk): Promise<Lease | AskedTurn> {
    const { place, waits, signal } = ask;
    try {
      return await this.locks.acquire(place, { waits, signal, waitMs: timeLeft(ask) });
    } catch (error) {
      const isBusy = error instanceof ApiError && error.code === 'turn_in_progress';
      const known = isBusy ? told(await this.keys.read(ask)) : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  /** What a turn was begun with, to be answered again. @throws ApiError not_found, turn_in_progress, conflict */
  async #inputAgain(place: Place, turnId: string, changes: JsonObject): Promise<TurnInput> {
    const turn = await this.store.findTurn(place, turnId);
    const firstSeq = parseTurnId(turnId)?.firstSeq;
    if (turn === undefined || firstSeq === undefined) throw turnMissing();
    if (turn.status === 'running') throw turnInProgress(turnId, 1_000);
    const [first, ...rest] = turn.messages.filter(({ role }) => role !== 'assistant').map(asNew);
    if (first === undefined) throw new ApiError('conflict', 'this turn holds nothing that could be answered again');
    const { model = turn.model, ...parameters } = { ...parseObject(turn.request), ...changes };
    return {
      messages: [first, ...rest],
      model: typeof model === 'string' ? model : turn.model,
      parameters,
      replaces: { turnId, supersedesFrom: Math.min(turn.supersedesFrom ?? firstSeq, firstSeq) },
    };
  }

  /** The lock is the run's where there is one. */
  async #held(lease: Lease, begin: () => Promise<AskedTurn>): Promise<AskedTurn> {
    let asked: AskedTurn | undefined;
    try {
      asked = await begin();
      return asked;
    } finally {
      if (asked?.run === undefined) await lease.release();
    }
  }
}

/** Of an Idempotency-Key; asked for before the lock is, since a turn that runs is one to be read along. */
function told({ known }: KeyedAsk): AskedTurn | undefined {
  return known === undefined ? undefined : { turn: known, run: undefined };
}
