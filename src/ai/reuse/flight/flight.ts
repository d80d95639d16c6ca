import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientGoneError, toApiError } from '../../../http/index.js';
import type { CompletionCall } from '../../call/completion-call.js';
import type { ReuseObserver } from '../reuse.observer.js';
import { type AnswerFacts, formatFailure, formatRecording, type Recording } from '../recording/recording.js';
import type { FlightOf } from '../store/answer.store.js';
import type { AnswerLine } from './answer.line.js';
import { Broadcast } from './broadcast.js';
import { enterFlight, type Found } from './flight.entrance.js';
import type { Delivery, FlightPlan, Work } from './flight.plan.js';

/** How a flight ended, or, of a stream, that it has begun. */
export type Landing =
  | Found
  | { readonly kind: 'own'; readonly delivery: Extract<Delivery, { kind: 'whole' }> }
  | { readonly kind: 'live'; readonly broadcast: Broadcast; readonly delivery: Extract<Delivery, { kind: 'live' }> }
  /** It ended for a reason that is only the pilot's: whoever else waits is to begin again. */
  | { readonly kind: 'again'; readonly error: unknown };

export interface FlightPorts {
  readonly line: AnswerLine;
  readonly observer: ReuseObserver;
  /** The longest stream that is kept for those who come later, characters. */
  readonly mostChars: number;
}

/** How often a flight that nobody here waits for asks whether others do, ms. */
const ORPHAN_MS = 300;
/** Timers fire up to so early, ms. */
const TIMER_SLACK_MS = 5;

/** One call for all who want the same. Its pilot is the one whose call is made; all others pay nothing. */
export class Flight {
  /** Never rejects. */
  readonly landing: Promise<Landing>;
  /** Resolves when nothing of it is left to be done; never rejects. */
  readonly over: Promise<void>;
  readonly #abort = new AbortController();
  readonly #aboard = new Set<CompletionCall>();
  readonly #place: FlightOf;
  #pilot: CompletionCall | undefined;
  #broadcast: Broadcast | undefined;
  #isOver = false;
  #ended: () => void = () => undefined;

  constructor(
    readonly plan: FlightPlan,
    private readonly first: CompletionCall,
    private readonly work: Work,
    private readonly ports: FlightPorts,
  ) {
    this.#place = { shelf: plan.shelf, flight: plan.name, token: randomUUID() };
    this.#aboard.add(first);
    this.over = new Promise((resolve) => {
      this.#ended = resolve;
    });
    this.landing = this.#fly();
  }

  /** Whose call is made; undefined: nobody's yet. */
  get pilot(): CompletionCall | undefined {
    return this.#pilot;
  }

  /** Nobody was there before it. */
  isFirst(call: CompletionCall): boolean {
    return call === this.first;
  }

  /** It can't be joined from its beginning any more. */
  get isClosed(): boolean {
    return this.#isOver || this.#abort.signal.aborted || this.#broadcast?.isOutgrown === true;
  }

  board(call: CompletionCall): void {
    this.#aboard.add(call);
  }

  /** A call waits no longer. The last one ends the flight, unless others wait for it elsewhere. */
  leave(call: CompletionCall, reason: unknown): void {
    if (!this.#aboard.delete(call) || this.#aboard.size > 0 || this.#isOver) return;
    const isToRunOn = this.plan.runsOn && reason instanceof ClientGoneError && this.#pilot !== undefined;
    if (isToRunOn) void this.#broadcast?.drain();
    else void this.#endUnlessAwaited(reason);
  }

  /** Ends it, whoever waits. */
  end(reason: unknown): void {
    this.#abort.abort(reason);
    void this.#broadcast?.stop();
  }

  async #endUnlessAwaited(reason: unknown): Promise<void> {
    const mayBeAwaited = this.plan.isFleetWide && this.#pilot !== undefined;
    while (mayBeAwaited && this.#aboard.size === 0 && !this.#abort.signal.aborted) {
      if (!(await this.ports.line.isAwaited(this.#place))) break;
      await sleep(ORPHAN_MS, undefined, { ref: false });
    }
    if (this.#aboard.size === 0) this.end(reason);
  }

  async #fly(): Promise<Landing> {
    try {
      const { line, observer } = this.ports;
      const entered = await enterFlight(this.plan, this.#place, { line, observer, signal: this.#abort.signal });
      if (entered.kind === 'own') return await this.#make(entered.leads);
      this.#close();
      return entered;
    } catch (error) {
      this.#close();
      return this.#abort.signal.aborted ? { kind: 'again', error } : { kind: 'failed', error };
    }
  }

  async #make(leads: boolean): Promise<Landing> {
    const [pilot] = this.#aboard;
    if (pilot === undefined) throw new ClientGoneError();
    this.#pilot = pilot;
    const over = leads ? this.ports.line.lead(this.#place) : () => undefined;
    try {
      const delivery = await this.work({ ...pilot, signal: this.#abort.signal });
      if (delivery.kind === 'live') return this.#relay(delivery, over);
      const kept = this.#keep(delivery.recording, over);
      // Whoever comes next asks the store behind this; only a promise to keep it is kept first.
      if (this.plan.needsStore) await kept;
      return { kind: 'own', delivery };
    } catch (error) {
      const isPilotsOwn = this.#isPilotsOwn(pilot, error);
      await this.#finish(isPilotsOwn ? '' : formatFailure(toApiError(error)));
      over();
      this.#close();
      return { kind: isPilotsOwn ? 'again' : 'failed', error };
    }
  }

  /** Nobody joins any more. Never rejects. */
  async #keep(recording: Recording, over: () => void): Promise<void> {
    this.#isOver = !this.plan.needsStore;
    await this.#finish(formatRecording(recording), this.plan.keep(recording));
    over();
    this.#close();
  }

  #relay(delivery: Extract<Delivery, { kind: 'live' }>, over: () => void): Landing {
    let isFinished = false;
    const broadcast = new Broadcast(delivery.frames, {
      mostChars: this.ports.mostChars,
      whole: async (text) => {
        isFinished = true;
        const recording: Recording = { kind: 'stream', text, ...factsOf(delivery.facts) };
        await this.#finish(formatRecording(recording), this.plan.keep(recording));
      },
      outgrown: () => undefined,
      over: () => {
        over();
        this.#isOver = true;
        if (isFinished) this.#ended();
        else void this.#finish('').then(this.#ended);
      },
    });
    this.#broadcast = broadcast;
    // Begun at once: a source that was never read would not tell of its end.
    if (this.#aboard.size === 0) void broadcast.drain();
    else void broadcast.advance();
    return { kind: 'live', broadcast, delivery };
  }

  #finish(text: string, keep?: ReturnType<FlightPlan['keep']>): Promise<void> {
    if (!this.plan.isFleetWide && keep === undefined) return Promise.resolve();
    const { purpose } = this.plan;
    return this.ports.line.finish({ purpose, text, ...this.#place, ...(keep !== undefined && { keep }) });
  }

  #close(): void {
    this.#isOver = true;
    this.#ended();
  }

  /** Others have time of their own, and connections of their own. */
  #isPilotsOwn({ startedAt, deadlineMs }: CompletionCall, error: unknown): boolean {
    if (this.#abort.signal.aborted) return true;
    const { code } = toApiError(error);
    return code === 'timeout' && performance.now() - startedAt >= deadlineMs - TIMER_SLACK_MS;
  }
}

function factsOf({ model, provider, route, trace }: AnswerFacts): AnswerFacts {
  return { model, provider, route, ...(trace && { trace }) };
}
