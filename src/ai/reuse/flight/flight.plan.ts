import type { CompletionCall } from '../../call/completion-call.js';
import type { AnswerFacts, Recording } from '../recording/recording.js';
import type { FinishCommand } from '../store/answer.store.js';

/** What a flight is about: who joins it, and what is found or kept under which names. */
export interface FlightPlan {
  readonly shelf: string;
  /** Whoever has the same name and shelf joins. */
  readonly name: string;
  /** Another purpose under the same name is refused. */
  readonly purpose: string;
  /** Names of answers that would do, the best one first. */
  readonly answers: readonly string[];
  /** Pods join each other's. */
  readonly isFleetWide: boolean;
  /** Once begun it goes on to its end, also where nobody waits any more. */
  readonly runsOn: boolean;
  /** It is not begun where the store can't tell whether somebody else has. */
  readonly needsStore: boolean;
  /** Whether an answer that was kept would do. */
  readonly accepts: (recording: Recording) => boolean;
  /** Under which name an answer is kept, and for how long; undefined: it is not. */
  readonly keep: (recording: Recording) => FinishCommand['keep'];
}

/** An answer on its way to one caller. */
export type Delivery =
  | { readonly kind: 'whole'; readonly recording: Recording; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: 'live';
      /** Server-sent events. */
      readonly frames: AsyncGenerator<string>;
      readonly facts: AnswerFacts;
      readonly headers: Readonly<Record<string, string>>;
    };

/** Makes the call. Tells the call's `ended` how it went, on every way out. */
export type Work = (call: CompletionCall) => Promise<Delivery>;
