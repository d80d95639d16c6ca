import { jest } from '@jest/globals';
import type { CellRequest, Exchange, FleetNews, FleetStore, Topic } from '../../src/ai/fleet/fleet.store.js';
import { MemoryFleetStore } from '../../src/ai/fleet/memory-fleet.store.js';
import { type FleetPod, fleetPod } from './fleet-pods.js';

/** A store that counts what it is asked, and can be away. */
export class CountedStore implements FleetStore {
  /** Topic, number of cells, number of changes. */
  readonly asked: string[] = [];
  /** Nobody hears anything. */
  isMute = false;
  /** `hangs`: answers nothing until it is back. */
  state: 'up' | 'down' | 'hangs' = 'up';
  private readonly store = new MemoryFleetStore(() => Date.now() * 1_000);
  private readonly waiting: (() => void)[] = [];
  private readonly receivers = new Map<(news: FleetNews) => void, (news: FleetNews) => void>();

  get changes(): number {
    return this.asked.filter((words) => !words.endsWith(' 0')).length;
  }

  async exchange<Body, Change>(
    topic: Topic<Body, Change>,
    from: string,
    requests: readonly CellRequest<Change>[],
  ): Promise<Exchange<Body>> {
    const changes = requests.reduce((sum, request) => sum + request.changes.length, 0);
    this.asked.push(`${topic.name} ${requests.length} ${changes}`);
    await this.up();
    return this.store.exchange(topic, from, requests);
  }

  async subscribe(hear: (news: FleetNews) => void): Promise<void> {
    await this.up();
    const told = (news: FleetNews): void => {
      if (!this.isMute) hear(news);
    };
    this.receivers.set(hear, told);
    await this.store.subscribe(told);
  }

  unsubscribe(hear: (news: FleetNews) => void): Promise<void> {
    return this.store.unsubscribe(this.receivers.get(hear) ?? hear);
  }

  back(): void {
    this.state = 'up';
    for (const go of this.waiting.splice(0)) go();
  }

  private async up(): Promise<void> {
    if (this.state === 'down') throw new Error('away');
    if (this.state === 'hangs') await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/** Pods on one store in the time of Jest's timers. */
export class FakeFleet {
  readonly store = new CountedStore();
  private readonly pods: FleetPod[] = [];

  constructor() {
    jest.useFakeTimers({ now: 1_764_421_836_000 });
  }

  /** The pods' monotonic clock starts anywhere; the store's is the wall's. */
  pod({ wrongByMs = 0 } = {}): FleetPod {
    const time = { monotonic: () => Date.now() - 1_764_000_000_000, wall: () => Date.now() + wrongByMs };
    const made = fleetPod(this.store, time);
    this.pods.push(made);
    return made;
  }

  async started(): Promise<FleetPod> {
    const made = this.pod();
    await made.fleet.start();
    return made;
  }

  /** What is sent without delay has arrived after 0 ms. */
  pass(ms: number): Promise<void> {
    return jest.advanceTimersByTimeAsync(ms);
  }

  /** Answers how many timers are left, which is none. */
  async end(): Promise<number> {
    this.store.back();
    await Promise.all(this.pods.map(({ fleet }) => fleet.close()));
    const left = jest.getTimerCount();
    jest.useRealTimers();
    return left;
  }
}
