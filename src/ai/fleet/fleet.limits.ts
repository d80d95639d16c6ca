/** By which rules the fleet judges. The scripts repeat those of the first six groups; a spec compares them. */
export const FLEET_LIMITS = Object.freeze({
  /** A deployment is left alone after so many failures in a row … */
  strikes: 3,
  /** … within so long, ms. */
  strikeWindowMs: 30_000,
  /** How long it is left alone the first time, ms; twice as long after each failed probe … */
  firstOpenMs: 5_000,
  /** … but no longer than this, ms. */
  longestOpenMs: 60_000,
  /** The longest Retry-After that is obeyed, ms: a mistake of a provider's must not take it out for a day. */
  longestRetryAfterMs: 300_000,
  /** How long a standing that is half-open waits for a probe before it is forgotten, ms. */
  halfOpenMs: 600_000,
  /** How long the end of an outage is remembered, ms: longer than a call that began in it can last. */
  recoveryMs: 150_000,

  /** How long the end of a parking is remembered, ms: an older word may still be on its way. */
  parkingMemoryMs: 60_000,

  /** Reports of one rate limit window within this time are of one moment, ms: the smallest counts. */
  momentMs: 1_000,
  /** How long a provider's word on its limits is believed, ms: each answer repeats it. */
  toldMs: 180_000,

  /** How long the word of a usage check is kept, ms. */
  usageMs: 86_400_000,
  /** What a key is taken for that could not be checked yet: free, with so many requests left. */
  assumedRequests: 1_000,

  /** Samples per history. */
  samples: 100,
  /** How long a history is kept after its last sample, ms. */
  latencyMs: 86_400_000,

  /** How long a token ratio is kept after its last sample, ms. */
  ratioMs: 604_800_000,
  /** A ratio goes this part of the way up to a larger sample … */
  ratioRise: 8,
  /** … and this part down to a smaller one: of evenly spread samples it stays above three of four. */
  ratioFall: 64,

  /** How long an emptied cell keeps its revision, ms. */
  emptyMs: 60_000,
  /** A cell from further in the future than this was written by another clock, and is forgotten, ms. */
  clockStepMs: 1_000,
});

/** Bounds of a token ratio, millionths. */
export const RATIO_BOUNDS = Object.freeze({ least: 500_000, most: 3_000_000, unknown: 1_000_000 });
