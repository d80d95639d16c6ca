/** What both stores of conversations do alike. The scripts repeat the first four in their preludes; a spec compares them. */
export const CONVERSATION_LIMITS = Object.freeze({
  /** However short it is kept, a conversation outlives a turn by so much, ms. */
  runMs: 3_600_000,
  /** How long events are kept after the end of their turn, ms. */
  eventsMs: 600_000,
  /** How long keys are kept past their end, ms. */
  slackMs: 1_000,
  /** About so many events of a turn are kept: at one in 30 ms those of ten minutes. */
  mostEvents: 20_000,
  /** Counts of tokens per command: a longer one would hold the store up. */
  countsAtOnce: 500,
});

export type ConversationLimits = typeof CONVERSATION_LIMITS;
