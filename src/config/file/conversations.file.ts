import { count, countUpTo, duration } from './checks.js';
import { Optional } from './shape.js';

const DAY_MS = 86_400_000;
export const LONGEST_CONVERSATION_MS = 3_650 * DAY_MS;
const MOST_REPLICAS = 16;

/** Conversations that are kept here. */
export class ConversationsFile {
  /** After their last turn; 0: for ever. */
  @Optional(duration(0, LONGEST_CONVERSATION_MS))
  keepMs: number | string = '30d';

  /** The most that a prompt may take, tokens; left out: what the model's window leaves. */
  @Optional(count)
  maxInputTokens?: number;

  /** How many replicas of Redis must have a turn before it is acknowledged; left out: the primary's word is enough. */
  @Optional(countUpTo(MOST_REPLICAS))
  replicas?: number;
}
