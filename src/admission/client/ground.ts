import type { ClientEnvironment } from '../../store/index.js';
import type { Scope, ScopeNews } from '../admission.store.js';
import type { StoreLine } from './store.line.js';

/** Where claims are made: the shared store, or this process's own share of the limits. */
export interface Ground {
  readonly environment: ClientEnvironment;
  readonly line: StoreLine;
  readonly process: string;
  readonly isLocal: boolean;
  /** Whether this process had an answer for that scope within its longest window. */
  hasSeen(scope: Scope): boolean;
  /** How long ago it let a call into that scope by its own share, ms; undefined: not within its longest window. */
  localMs(scope: Scope): number | undefined;
  heard(scope: Scope, news: ScopeNews): void;
  /** A call was not answered. @param again asks the same part of the store once more */
  failed(error: unknown, again: () => Promise<unknown>): void;
}
