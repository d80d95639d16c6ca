/**
 * What all pods know of the upstreams, kept in cells: one for each subject of a topic, e.g. the standing of one deployment. A pod
 * hands in what it has learned and is given what others have changed. There are two implementations with the same answers and
 * messages: Lua on Redis, and one in this process.
 *
 * Nothing here is worth a call: who can't reach the store goes on with what it knows.
 */
export interface FleetStore {
  /**
   * Applies the changes to their cells, each at its time, and answers what the asker does not know yet. One topic's exchange
   * happens at once or not at all.
   *
   * @param from - name of the asking process, without bars; other processes are told of news
   * @throws StoreError
   */
  exchange<Body, Change>(
    topic: Topic<Body, Change>,
    from: string,
    requests: readonly CellRequest<Change>[],
  ): Promise<Exchange<Body>>;
  /**
   * Messages that something changed which others should not find out a second later: once, twice or never. Resolves once subscribed.
   *
   * @param resumed - messages may have been lost
   * @throws StoreError; then it is not subscribed
   */
  subscribe(hear: (news: FleetNews) => void, resumed: () => void): Promise<void>;
  unsubscribe(hear: (news: FleetNews) => void): Promise<void>;
}

export const TOPIC_NAMES = ['standing', 'parking', 'window', 'usage', 'latency', 'ratio'] as const;
export type TopicName = (typeof TOPIC_NAMES)[number];

export interface FleetNews {
  readonly topic: TopicName;
  /** The process whose change it was. */
  readonly from: string;
}

export interface CellRequest<Change> {
  /** The cell's subject: a deployment, a key or a model of the catalogue. */
  readonly id: string;
  /** The revision that the asker knows; 0: none. */
  readonly seen: number;
  readonly changes: readonly AgedChange<Change>[];
}

export interface AgedChange<Change> {
  readonly change: Change;
  /** How long ago it happened, ms. */
  readonly agoMs: number;
}

export interface Exchange<Body> {
  /** The store's clock, Unix ms. All times in bodies are by it. */
  readonly now: number;
  /** By the order of the requests; undefined: as the asker knows it. */
  readonly cells: readonly (Cell<Body> | undefined)[];
}

export interface Cell<Body> {
  /** Rises with every change; 0: there is nothing. */
  readonly revision: number;
  /** From then on there is nothing, ms. */
  readonly endsAt: number;
  readonly body: Body | undefined;
}

/** How a topic's bodies are written. */
export interface Bodies<Body> {
  readonly name: TopicName;
  /** Without line breaks; never empty. */
  format(body: Body): string;
  /** @throws TypeError for what `format` never writes */
  parse(text: string): Body;
}

/**
 * One kind of knowledge: what a change does to a body. Pure; `scripts/<name>.lua` says the same in the same words, and a property
 * test compares the two. All numbers are whole; times are ms of the store's clock.
 */
export interface Topic<Body, Change> extends Bodies<Body> {
  /** The body after a change that happened at that time; the same object where it makes no difference. Undefined: nothing is known. */
  apply(body: Body | undefined, change: Change, at: number): Body | undefined;
  /** From when on the body, written now, says nothing any more. */
  endOf(body: Body, now: number): number;
  /** Whether other pods are to be told at once. */
  isNews(before: Body | undefined, after: Body | undefined): boolean;
  /** How many changes of one cell wait for a store that is away; of more, the oldest are not told. */
  readonly mostPending: number;
  /** One change in place of two that follow each other; undefined: both are needed. */
  merge(older: Change, newer: Change): Change | undefined;
  /** Fields separated by bars. */
  encode(change: Change): string;
}
