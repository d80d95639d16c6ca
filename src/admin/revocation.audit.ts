import type { ReleaseMode } from './locks.query.js';

/** That an operator took a lock from its holders; flat, for a line of the log. */
export interface Revocation {
  readonly request_id: string;
  /** The operator's name as a caller. */
  readonly caller: string;
  readonly lock: string;
  /** The hold it was about; absent: every holder. */
  readonly hold?: string;
  readonly mode: ReleaseMode;
  /** How many holders; `unknown` where the store gave no answer: it may have happened. */
  readonly revoked: number | 'unknown';
}

/** Hears of each revocation that took place, or may have. Must not throw. */
export type RevocationAudit = (revocation: Revocation) => void;
