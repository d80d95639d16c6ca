/** Of a context window, the most that a prompt may fill. */
const MOST_OF_WINDOW = 0.85;
/** Where the counter is not the model's own, it may be off by so much … */
const COUNTING_ERROR = 0.03;
/** … and by so many tokens of the format that nobody told of. */
const FORMAT_TOKENS = 64;

/** A model's room, tokens. */
export interface WindowRoom {
  readonly contextWindow: number;
  /** What the reply may take. */
  readonly reservedOutput: number;
  /** The window holds the prompt alone; the reply has a limit of its own. */
  readonly hasSeparateInputLimit: boolean;
  /** The counter is the model's own. */
  readonly isExact: boolean;
  /** The most that the configuration, or the conversation, allows. */
  readonly mostInput?: number;
}

/** The most that a prompt may take, tokens; below 0 where the reply alone needs more than the window. */
export function promptBudget(room: WindowRoom): number {
  const { contextWindow, reservedOutput, hasSeparateInputLimit, isExact, mostInput } = room;
  const left = hasSeparateInputLimit ? contextWindow : contextWindow - reservedOutput;
  const sure = isExact ? left : Math.floor((left - FORMAT_TOKENS) / (1 + COUNTING_ERROR));
  return Math.min(Math.floor(MOST_OF_WINDOW * contextWindow), sure, mostInput ?? Number.POSITIVE_INFINITY);
}
