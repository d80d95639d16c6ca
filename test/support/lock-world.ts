import { afterEach, beforeEach } from '@jest/globals';
import { once } from 'node:events';
import {
  type Lease,
  LockService,
  type LockServiceOptions,
  type LockState,
  type LockStore,
} from '../../src/lock/index.js';
import { eventually } from './eventually.js';
import { REAL_TIME, type TestTime } from './test-time.js';
import { UnreliableStore } from './unreliable-store.js';

/** The stores of one fleet of pods, that nobody else has to do with. */
export interface LockFleet {
  /** As one more pod opens it: with connections of its own. */
  open(): Promise<LockStore>;
  close(): Promise<void>;
}

/** What locks may live on: memory, one Redis, Sentinel, Cluster. */
export interface LockGround {
  readonly time: TestTime;
  fleet(): Promise<LockFleet>;
  stop(): Promise<void>;
}

export interface Pod {
  readonly locks: LockService;
  /** What lies between it and the store. */
  readonly wire: UnreliableStore;
}

/** Several pods on one store, and a look at the store that no fault disturbs. */
export class LockWorld {
  readonly #pods: Pod[] = [];

  private constructor(
    private readonly fleet: LockFleet,
    readonly store: LockStore,
    readonly time: TestTime,
  ) {}

  static async start(ground: LockGround): Promise<LockWorld> {
    const fleet = await ground.fleet();
    return new LockWorld(fleet, await fleet.open(), ground.time);
  }

  /** @param view another way to the same locks, which stays clear while the fleet's is disturbed */
  static async watched(fleet: LockFleet, view: LockFleet): Promise<LockWorld> {
    const store = await view.open();
    const close = async (): Promise<void> => {
      await Promise.all([fleet.close(), view.close()]);
    };
    return new LockWorld({ open: () => fleet.open(), close }, store, REAL_TIME);
  }

  /** One that has taken locks before, and hears messages. */
  async pod(options: LockServiceOptions = {}): Promise<Pod> {
    const pod = await this.freshPod(options);
    await pod.locks.withLock(`first of ${this.#pods.length}`, {}, () => pod.wire.subscribed);
    pod.wire.forgetCalls();
    return pod;
  }

  /** One that begins now. */
  async freshPod(options: LockServiceOptions = {}): Promise<Pod> {
    const wire = new UnreliableStore(await this.fleet.open());
    const pod = { wire, locks: new LockService(wire, { graceMs: 0, ...options }) };
    this.#pods.push(pod);
    return pod;
  }

  /** A store for a pod that the test makes, and closes, itself. */
  open(): Promise<LockStore> {
    return this.fleet.open();
  }

  pods(count: 1): Promise<readonly [LockService]>;
  pods(count: 2): Promise<readonly [LockService, LockService]>;
  pods(count: 3): Promise<readonly [LockService, LockService, LockService]>;
  pods(count: number): Promise<readonly LockService[]>;
  async pods(count: number): Promise<readonly LockService[]> {
    const pods: LockService[] = [];
    for (let number = 0; number < count; number += 1) pods.push((await this.pod()).locks);
    return pods;
  }

  /** Keys that anybody holds or waits for. */
  async busy(): Promise<readonly string[]> {
    return (await this.store.list(10_000)).map(({ key }) => key);
  }

  /** Resolves when so many wait for the key. */
  async queued(key: string, count: number): Promise<void> {
    await eventually(async () => ((await this.store.inspect(key))?.queued ?? 0) === count);
  }

  async holders(key: string): Promise<LockState['holders']> {
    return (await this.store.inspect(key))?.holders ?? [];
  }

  /** Resolves when nobody holds or waits for anything. */
  async empty(): Promise<void> {
    await eventually(async () => (await this.busy()).length === 0);
  }

  /**
   * Ends all pods; then nothing is held or waited for. Those that were cut off are healed first, or they could not say goodbye.
   * @throws {Error} where something is left
   */
  async close(): Promise<void> {
    for (const { wire } of this.#pods) wire.heal();
    await Promise.all(this.#pods.map(({ locks }) => locks.close()));
    await this.empty();
    await this.fleet.close();
  }
}

/** A world for each test, where nothing is left at the end: no lock, no waiter, and no timer where that can be known. */
export function worldPerTest(ground: () => LockGround): () => LockWorld {
  let world: LockWorld | undefined;
  beforeEach(async () => {
    ground().time.begin();
    world = await LockWorld.start(ground());
  });
  afterEach(async () => {
    try {
      await world?.close();
    } finally {
      world = undefined;
      ground().time.end();
    }
  });
  return () => {
    if (world === undefined) throw new Error('there is a world only within a test');
    return world;
  };
}

/** Resolves when a holder was told that it holds no more. */
export async function told({ signal }: Lease): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
