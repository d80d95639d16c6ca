import type { RedisStoreOptions } from '../../src/store/index.js';
import { type Load, LockWorker, type Section, type Settled } from './lock-worker.js';
import type { RedisServer } from './redis-server.js';

export interface FleetOptions {
  readonly size: number;
  /** How its processes reach the Redis that their locks are on. */
  readonly storeOptions: RedisStoreOptions;
  /** The Redis that what they guard is on; nobody disturbs it. */
  readonly guard: RedisServer;
  readonly loads: readonly Load[];
}

/** What follows the longest wait: its section, and closing over a store that may not answer, ms. */
const SETTLE_MS = 20_000;
/** A process that has closed everything ends by itself within this time, ms. */
const END_MS = 10_000;

/** Several processes that contend for locks, and what they told over their lives, those that were killed included. */
export class LockFleet {
  readonly #workers: LockWorker[] = [];
  readonly #past: LockWorker[] = [];
  readonly #killed = new Set<LockWorker>();
  #started = 0;

  private constructor(private readonly options: FleetOptions) {}

  /** Starts them all; their loads begin when all are ready. */
  static async start(options: FleetOptions): Promise<LockFleet> {
    const fleet = new LockFleet(options);
    for (let index = 0; index < options.size; index += 1) fleet.#workers.push(fleet.#spawn());
    await Promise.all(fleet.#workers.map(({ ready }) => ready));
    for (const worker of fleet.#workers) fleet.#load(worker);
    return fleet;
  }

  /** Every process there ever was. */
  get workers(): readonly LockWorker[] {
    return [...this.#past, ...this.#workers];
  }

  get sections(): readonly Section[] {
    return this.workers.flatMap(({ sections }) => sections);
  }

  get settled(): readonly Settled[] {
    return this.workers.flatMap(({ settled }) => settled);
  }

  /** The process at this place now. */
  at(index: number): LockWorker {
    const worker = this.#workers[index];
    if (worker === undefined) throw new Error(`the fleet has no place ${index}`);
    return worker;
  }

  /** Kills a process and puts a fresh one in its place. */
  async replace(index: number): Promise<void> {
    const old = this.at(index);
    this.#killed.add(old);
    old.kill();
    await old.ended;
    this.#past.push(old);
    const fresh = this.#spawn();
    this.#workers[index] = fresh;
    await fresh.ready;
    this.#load(fresh);
  }

  /** Lets all of them come to their ends. @returns what was wrong with those ends */
  async stop(): Promise<readonly string[]> {
    const longestWaitMs = Math.max(...this.options.loads.map(({ waitMs }) => waitMs));
    await Promise.all(this.#workers.map((worker) => this.#end(worker, longestWaitMs)));
    return (await Promise.all(this.workers.map((worker) => this.#faultOf(worker)))).filter((fault) => fault !== '');
  }

  /** Ends what is still there at once; for when a test has failed. */
  async kill(): Promise<void> {
    for (const worker of this.#workers) worker.kill();
    await Promise.all(this.workers.map(({ ended }) => ended));
  }

  #spawn(): LockWorker {
    this.#started += 1;
    return new LockWorker(`w${this.#started}`, this.options);
  }

  #load(worker: LockWorker): void {
    for (const load of this.options.loads) worker.begin(load);
  }

  async #end(worker: LockWorker, longestWaitMs: number): Promise<void> {
    worker.resume();
    worker.stop();
    await atMost(longestWaitMs + SETTLE_MS, [worker.stopped, worker.ended]);
    await atMost(END_MS, [worker.ended]);
    worker.kill();
    await worker.ended;
  }

  async #faultOf(worker: LockWorker): Promise<string> {
    const { code, signal, errors } = await worker.ended;
    if (errors !== '') return `${worker.name} wrote ${errors}`;
    if (this.#killed.has(worker) || (code === 0 && worker.hasStopped)) return '';
    const state = worker.hasStopped
      ? 'after it had closed everything'
      : 'with wishes that were neither served nor told';
    return `${worker.name} ended with ${String(code ?? signal)}, ${state}`;
  }
}

async function atMost(ms: number, awaited: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([...awaited, isOver]);
  clearTimeout(timer);
}
