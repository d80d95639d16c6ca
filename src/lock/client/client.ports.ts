import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
} from '../lock.store.js';

/** Time and chance, as the client sees them; a simulation brings its own. */
export interface ClientEnvironment {
  /** Milliseconds that never fall and that count the time in which this machine was suspended. */
  now(): number;
  /** Calls once, `ms` from now or later. */
  after(ms: number, run: () => void): ClientTimer;
  /** At least 0, less than 1. */
  random(): number;
}

export interface ClientTimer {
  cancel(): void;
}

/**
 * The way to the store, with a deadline of its own for each call. Whoever asks hears at least once: the answer, or that there was
 * none in time. An answer that comes after that is heard as well.
 */
export interface LockLine {
  acquire(command: AcquireCommand, hear: Hear<AcquireAnswer>): void;
  beat(command: BeatCommand, hear: Hear<BeatAnswer>): void;
  leave(command: LeaveCommand, hear: Hear<LeaveAnswer>): void;
}

export type Hear<Answer> = (outcome: Outcome<Answer>) => void;

export type Outcome<Answer> =
  { readonly isAnswered: true; readonly answer: Answer } | { readonly isAnswered: false; readonly error: unknown };
