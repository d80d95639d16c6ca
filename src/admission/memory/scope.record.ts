import type { TokenRule } from '../admission.rules.js';
import type { Window } from './window.js';

interface Wish {
  readonly flow: string;
  readonly weight: number;
  readonly tokens: number;
  readonly process: string;
  readonly microUsd: number;
  readonly leaseMs: number;
}

export interface WaitingRecord extends Wish {
  readonly state: 'waiting';
  readonly deadline: number;
  readonly number: number;
  /** When it was expected to be let in, and the rule that said so. */
  readonly expectedAt: number;
  readonly rule: string;
}

export interface GrantedRecord extends Wish {
  readonly state: 'granted';
  readonly atMs: number;
  /** What its flow was charged. */
  readonly cost: number;
  /** By which its tokens were charged, whatever the rules say later. */
  readonly tokenRule: TokenRule;
  /** On which it was charged. */
  readonly windows: readonly Window[];
}

/** Cancelled, maybe before it came. */
export interface CancelledRecord {
  readonly state: 'cancelled';
}

export type ScopeRecord = WaitingRecord | GrantedRecord | CancelledRecord;
