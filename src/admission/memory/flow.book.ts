import { ScoreSet } from '../../store/index.js';

/** What waits of a flow. */
export interface FlowQueue {
  calls: number;
  tokens: number;
  weight: number;
  /** Ids by their numbers. */
  readonly ids: ScoreSet;
}

/** What is known of a flow: the tag that it left with, and the mean duration of its calls. */
export interface FlowHistory {
  readonly tag: number;
  readonly meanMs: number;
}

const UNKNOWN: FlowHistory = { tag: 0, meanMs: 0 };

/** The flows of a scope: those that wait, by their tags, and what is remembered of the others for an era or two. */
export class FlowBook {
  readonly active = new ScoreSet();
  private readonly queues = new Map<string, FlowQueue>();
  private era = 0;
  private recent = new Map<string, FlowHistory>();
  private former = new Map<string, FlowHistory>();

  /** Forgets what was not touched for an era. */
  enter(era: number): void {
    if (era === this.era) return;
    this.former = era === this.era + 1 ? this.recent : new Map<string, FlowHistory>();
    this.recent = new Map<string, FlowHistory>();
    this.era = era;
  }

  historyOf(flow: string): FlowHistory {
    return this.recent.get(flow) ?? this.former.get(flow) ?? UNKNOWN;
  }

  remember(flow: string, history: FlowHistory): void {
    this.recent.set(flow, history);
  }

  queueOf(flow: string): Readonly<FlowQueue> | undefined {
    return this.queues.get(flow);
  }

  /** @param tag where it is the first of its flow */
  enqueue(flow: string, waiter: { id: string; number: number; tokens: number; weight: number }, tag: number): void {
    let queue = this.queues.get(flow);
    if (queue === undefined) {
      queue = { calls: 0, tokens: 0, weight: waiter.weight, ids: new ScoreSet() };
      this.queues.set(flow, queue);
      this.active.set(flow, tag);
    }
    queue.calls += 1;
    queue.tokens += waiter.tokens;
    queue.weight = waiter.weight;
    queue.ids.set(waiter.id, waiter.number);
  }

  /** @param tag the flow's from now on */
  dequeue(flow: string, waiter: { id: string; tokens: number }, tag: number): void {
    const queue = this.queues.get(flow);
    if (queue === undefined) return;
    queue.ids.delete(waiter.id);
    queue.calls -= 1;
    queue.tokens -= waiter.tokens;
    if (queue.calls > 0) {
      this.active.set(flow, tag);
      return;
    }
    this.queues.delete(flow);
    this.active.delete(flow);
    this.remember(flow, { ...this.historyOf(flow), tag });
  }
}
