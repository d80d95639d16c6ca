import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
} from '../lock.store.js';

export type { ClientEnvironment, ClientTimer } from '../../store/index.js';

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
