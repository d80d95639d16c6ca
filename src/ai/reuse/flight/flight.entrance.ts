import type { ApiError } from '../../../http/index.js';
import { StoreError } from '../../../store/index.js';
import { parseRecording, parseTold, type Recording } from '../recording/recording.js';
import type { ReuseObserver } from '../reuse.observer.js';
import { idempotencyMismatch } from '../reuse.terms.js';
import type { EnterAnswer, FlightOf } from '../store/answer.store.js';
import type { AnswerLine } from './answer.line.js';
import type { FlightPlan } from './flight.plan.js';

/** What somebody else has made of the same call: an answer that was kept, or the end of a call in another pod. */
export type Found =
  | { readonly kind: 'whole'; readonly recording: Recording; readonly source: 'kept' | 'fleet' }
  | { readonly kind: 'failed'; readonly error: unknown };

export type Entered = Found | { readonly kind: 'own'; readonly leads: boolean };

export interface EntrancePorts {
  readonly line: AnswerLine;
  readonly observer: ReuseObserver;
  readonly signal: AbortSignal;
}

/**
 * Looks for an answer, or waits for somebody else's, until there is one or the call is this process's to make.
 *
 * @throws the signal's reason; ApiError idempotency_mismatch; StoreError where the plan needs the store
 */
export async function enterFlight(plan: FlightPlan, place: FlightOf, ports: EntrancePorts): Promise<Entered> {
  let { answers } = plan;
  for (;;) {
    const entered = await ask({ ...plan, answers }, place, ports);
    await throwIfEnded(plan, place, { entered, ...ports });
    if (entered.kind === 'mismatch') throw idempotencyMismatch();
    if (entered.kind === 'leads' || entered.kind === 'nothing') return { kind: 'own', leads: entered.kind === 'leads' };
    const found =
      entered.kind === 'kept' ? kept(plan, entered.text) : await follow({ ...place, token: entered.token }, ports);
    if (found !== undefined) return found;
    // What is of no use now is of none in a moment.
    if (entered.kind === 'kept') answers = [];
  }
}

async function ask(plan: FlightPlan, place: FlightOf, { line, observer }: EntrancePorts): Promise<EnterAnswer> {
  const { answers, purpose, isFleetWide, needsStore } = plan;
  if (answers.length === 0 && !isFleetWide) return { kind: 'nothing' };
  try {
    return await line.enter({ answers, purpose, ...place, token: isFleetWide ? place.token : '' });
  } catch (error) {
    if (needsStore || !(error instanceof StoreError)) throw error;
    observer.storeLost(error);
    return { kind: 'nothing' };
  }
}

/** Nobody waits any more: a flight that was begun in the store meanwhile is given up. */
async function throwIfEnded(
  { purpose }: FlightPlan,
  place: FlightOf,
  { line, signal, entered }: EntrancePorts & { readonly entered: EnterAnswer },
): Promise<void> {
  if (signal.aborted && entered.kind === 'leads') await line.finish({ purpose, text: '', ...place });
  signal.throwIfAborted();
}

function kept({ accepts }: FlightPlan, text: string): Found | undefined {
  const recording = parseRecording(text);
  return recording !== undefined && accepts(recording) ? { kind: 'whole', recording, source: 'kept' } : undefined;
}

/** Undefined: nobody leads it any more. */
async function follow(flight: FlightOf, { line, signal }: EntrancePorts): Promise<Found | undefined> {
  const text = await line.follow(flight, signal);
  const told = text === undefined ? undefined : parseTold(text);
  if (told === undefined) return undefined;
  if ('failure' in told) return failed(told.failure);
  return { kind: 'whole', recording: told.recording, source: 'fleet' };
}

function failed(error: ApiError): Found {
  return { kind: 'failed', error };
}
