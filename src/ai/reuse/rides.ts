import { ClientGoneError } from '../../http/index.js';
import { errorFrame } from '../call/chunk.writer.js';
import type { CacheOutcome, CompletionCall } from '../call/completion-call.js';
import type { BroadcastReader } from './flight/broadcast.reader.js';
import type { Flight, Landing } from './flight/flight.js';
import type { Delivery, FlightPlan, Work } from './flight/flight.plan.js';
import type { Flights } from './flight/flights.js';
import { Seat } from './flight/seat.js';
import type { Giving } from './giving.js';
import type { AnswerFacts, Recording } from './recording/recording.js';
import type { ReuseAccounts } from './reuse.accounts.js';
import type { ReuseObserver } from './reuse.observer.js';

export interface Ride {
  readonly plan: FlightPlan;
  readonly work: Work;
  readonly giving: Giving;
}

/** Takes calls to their answers in flights, and gives each the answer in its own form. */
export class Rides {
  readonly #made = new WeakSet<CompletionCall>();

  constructor(
    private readonly flights: Flights,
    private readonly accounts: ReuseAccounts,
    readonly observer: ReuseObserver,
  ) {}

  /** In the flight of that plan, or of the next one where that ends for a reason of somebody else's. @throws as a call does */
  async join(call: CompletionCall, ride: Ride): Promise<Delivery> {
    for (;;) {
      const delivery = await this.#ride(this.flights.board(ride.plan, call, ride.work), call, ride.giving);
      if (delivery !== undefined) return delivery;
    }
  }

  /** In a flight of its own, of which only the answer is kept. @throws as a call does */
  async alone(call: CompletionCall, { plan, work, giving }: Ride): Promise<Delivery> {
    const own = { ...plan, answers: [], isFleetWide: false };
    const delivery = await this.#ride(this.flights.begin(own, call, work), call, giving);
    if (delivery === undefined) throw new Error('nobody else can end a flight of its own');
    return delivery;
  }

  /** Whether a call was made, which tells the call's `ended` of its end. */
  hasMade(call: CompletionCall): boolean {
    return this.#made.has(call);
  }

  /** Ends what nobody waits for any more. Never rejects. */
  close(reason: unknown): Promise<void> {
    return this.flights.close(reason);
  }

  /** Undefined: it is to begin again. */
  async #ride(flight: Flight, call: CompletionCall, giving: Giving): Promise<Delivery | undefined> {
    const seat = new Seat(flight, call);
    const arrived = flight.isFirst(call) ? () => undefined : this.observer.waits();
    try {
      const landing = await seat.landing();
      return await this.#deliver(landing, { seat, call, giving });
    } catch (error) {
      seat.leave(error);
      throw error;
    } finally {
      if (seat.isPilots) this.#made.add(call);
      arrived();
    }
  }

  async #deliver(landing: Landing, rider: Rider): Promise<Delivery | undefined> {
    const { seat, call } = rider;
    switch (landing.kind) {
      case 'failed':
        throw landing.error;
      case 'again':
        if (seat.isPilots) throw landing.error;
        seat.leave(landing.error);
        return undefined;
      case 'whole':
        return this.#give(landing.recording, landing.source === 'kept' ? 'hit' : 'joined', rider);
      case 'own': {
        if (!seat.isPilots) return this.#give(landing.delivery.recording, 'joined', rider);
        seat.leave(undefined);
        return { ...landing.delivery, recording: rider.giving.recording(landing.delivery.recording, call, false) };
      }
      case 'live': {
        const reader = landing.broadcast.reader();
        if (reader !== undefined) return this.#read(reader, landing.delivery, rider);
        seat.leave(undefined);
        return undefined;
      }
    }
  }

  async #give(recording: Recording, outcome: 'hit' | 'joined', { seat, call, giving }: Rider): Promise<Delivery> {
    note(call, { outcome, giving, facts: recording });
    await this.accounts.count(call, outcome);
    const given = giving.recording(recording, call, true);
    seat.leave(undefined);
    call.ended();
    return { kind: 'whole', recording: given, headers: {} };
  }

  async #read(
    reader: BroadcastReader,
    { facts, headers }: Extract<Delivery, { kind: 'live' }>,
    rider: Rider,
  ): Promise<Delivery> {
    const { seat, call, giving } = rider;
    seat.take(reader);
    const { isPilots } = seat;
    if (!isPilots) {
      note(call, { outcome: 'joined', giving, facts });
      await this.accounts.count(call, 'joined');
    }
    return { kind: 'live', frames: framesFor(reader, rider), facts, headers: isPilots ? headers : {} };
  }
}

interface Rider {
  readonly seat: Seat;
  readonly call: CompletionCall;
  readonly giving: Giving;
}

/** What a reader gets; never throws: what goes wrong becomes an error event. */
async function* framesFor(reader: BroadcastReader, { seat, call, giving }: Rider): AsyncGenerator<string> {
  const isFree = !seat.isPilots;
  let outcome: { readonly error?: unknown } | undefined;
  try {
    for (;;) {
      const text = await reader.next();
      if (text === undefined) break;
      const seen = giving.frames(text, call, isFree);
      if (seen !== '') yield seen;
    }
    outcome = {};
  } catch (error) {
    outcome = { error };
    yield errorFrame(error);
  } finally {
    const reason = outcome === undefined ? leavingReason(call) : outcome.error;
    seat.leave(reason);
    if (isFree) call.ended(reason);
  }
}

/** Whoever stops reading gives no reason: the generator is just not resumed. */
function leavingReason({ signal }: CompletionCall): unknown {
  return signal.aborted ? signal.reason : new ClientGoneError();
}

function note(
  { report, trace }: CompletionCall,
  { outcome, giving, facts }: { outcome: CacheOutcome; giving: Giving; facts: AnswerFacts },
): void {
  report.cache = outcome;
  report.model = facts.model;
  report.provider = facts.provider;
  report.route = giving.route(facts);
  report.costUsd = 0;
  if (giving.isReplay) report.isReplay = true;
  trace?.met(outcome, facts.trace);
}
