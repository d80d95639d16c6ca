/**
 * Answers that are kept for a while, and flights: calls under way that others wait for instead of making them again. There are two
 * implementations with the same answers and messages: Lua on Redis, and one in this process.
 *
 * Everything lies on shelves, each with its own bound: what is asked together must lie on one.
 */
export interface AnswerStore {
  /**
   * Looks for an answer and, where there is none, joins the flight of that name or begins it. At once or not at all.
   *
   * @throws StoreError
   */
  enter(command: EnterCommand): Promise<EnterAnswer>;
  /**
   * What has become of a flight that this process waits for; tells its leader that somebody still does.
   *
   * @throws StoreError
   */
  look(command: LookCommand): Promise<LookAnswer>;
  /**
   * A leader's sign of life for flights of one shelf. Answers by the order of the flights.
   *
   * @throws StoreError
   */
  beat(command: BeatCommand): Promise<readonly BeatAnswer[]>;
  /**
   * Ends a flight, keeps its answer, and tells the processes that wait for it. The answer of somebody who leads no flight is kept all
   * the same.
   *
   * @throws StoreError
   */
  finish(command: FinishCommand): Promise<void>;
  /** This process waits no longer. @throws StoreError */
  leave(command: FlightOf & { readonly process: string }): Promise<void>;
  /**
   * Messages to a process: once, twice or never. Resolves once subscribed.
   *
   * @param over - the token of a flight that has ended
   * @param resumed - messages may have been lost
   * @throws StoreError; then it is not subscribed
   */
  subscribe(process: string, over: (token: string) => void, resumed: () => void): Promise<void>;
  unsubscribe(process: string): Promise<void>;
}

/** A flight by the shelf that it lies on, its name there and the leader's token. */
export interface FlightOf {
  readonly shelf: string;
  readonly flight: string;
  readonly token: string;
}

/** An empty token: neither joins nor begins a flight. */
export interface EnterCommand extends FlightOf {
  /** Names of answers of which the first that is there is taken. */
  readonly answers: readonly string[];
  /** What both the answer and the flight must be for; another one of the same name is told as such. */
  readonly purpose: string;
  readonly process: string;
}

export type EnterAnswer =
  /** @param text as it was handed in */
  | { readonly kind: 'kept'; readonly text: string }
  /** The flight is the asker's. */
  | { readonly kind: 'leads' }
  /** It is somebody else's, who leads it under that token. */
  | { readonly kind: 'follows'; readonly token: string }
  /** The name is in use for another purpose. */
  | { readonly kind: 'mismatch' }
  /** There is no answer, and the asker wants no flight. */
  | { readonly kind: 'nothing' };

export type LookCommand = FlightOf & { readonly process: string };

export type LookAnswer =
  { readonly kind: 'over'; readonly text: string } | { readonly kind: 'running' } | { readonly kind: 'gone' };

export interface BeatCommand {
  readonly shelf: string;
  readonly flights: readonly Pick<FlightOf, 'flight' | 'token'>[];
}

/** How many other processes wait for it; undefined: it is another one's, or nobody's. */
export type BeatAnswer = number | undefined;

export interface FinishCommand extends FlightOf {
  readonly purpose: string;
  /** What those who wait are told; empty: nothing, each is to begin again. */
  readonly text: string;
  /** Keeps the same text as an answer. */
  readonly keep?: {
    readonly answer: string;
    readonly forMs: number;
    /** The shelf holds no more than this, bytes; those that end first make room. */
    readonly shelfBytes: number;
  };
}

export const ANSWER_LIMITS = Object.freeze({
  /** A leader without a sign of life for so long is dead, ms. */
  leaseMs: 4_000,
  /** A process that waits is believed to wait for so long after each look, ms. */
  interestMs: 3_000,
  /** How long those who wait may fetch what they were told, ms. */
  tellMs: 10_000,
  /** What an answer takes beside its text, bytes: its name, its end, and its place in two indexes. */
  overheadBytes: 256,
  /** So many answers at most are cleared away for a new one. */
  rounds: 64,
});
