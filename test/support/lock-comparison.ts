import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import { unescapeText } from '../../src/lock/lock.keys.js';
import type { LockMessage } from '../../src/lock/lock.store.js';
import type { LockTable } from '../../src/lock/memory/lock.table.js';
import { type MemoryBench, PROCESSES, type RedisBench } from './lock-bench.js';
import type { Step } from './lock-sequences.js';

/** The same of both stores, where they agree. */
export interface Sight {
  readonly redis: unknown;
  readonly memory: unknown;
}

/** Runs each command on both stores, at the same time of the one clock, and looks at all that it can see of them. */
export class LockComparison {
  constructor(
    private readonly redis: RedisBench,
    private readonly memory: MemoryBench,
  ) {}

  async run(step: Step, key: string): Promise<Sight> {
    const { redis, memory } = this;
    redis.clock.us += step.us;
    const now = redis.clock.us;
    const answers = { redis: await step.run(redis.store, key, now), memory: await step.run(memory.store, key, now) };
    const lives = redis.redis.lives.slice(0, 4);
    const [stateThere, seenThere] = [await this.#stateInRedis(key), await redis.store.inspect(key)];
    const seenHere = await memory.store.inspect(key);
    return {
      redis: { step: step.words, answer: answers.redis, state: stateThere, seen: seenThere, lives },
      memory: {
        step: step.words,
        answer: answers.memory,
        state: stateInMemory(memory.table, key),
        seen: seenHere,
        // A look and a buried acquire touch nothing.
        lives:
          step.isLook === true || isBuried(answers.memory)
            ? lives
            : livesInMemory(memory.table, key, now).map((life, index) => asLived(life, lives[index])),
      },
    };
  }

  /** What was told since the last call. */
  async heard(): Promise<Sight> {
    return { redis: inOrder(await this.redis.heard()), memory: inOrder(await this.memory.heard()) };
  }

  async #stateInRedis(key: string): Promise<unknown> {
    const name = `${this.redis.redis.keyPrefix}lk:{${key}}`;
    const [fields, holders, waiters, alive] = await Promise.all([
      this.redis.client.hgetall(name),
      ...['e', 'q', 'a'].map((suffix) => this.#scores(`${name}:${suffix}`)),
    ]);
    const { c, x, w, cap, o, t, q, ...entries } = fields;
    if (c === undefined) return undefined;
    const [counter, endsAt] = [Number(c), Number(x)];
    if (w === undefined) return { counter, endsAt };
    const numbers = {
      weight: Number(w),
      capacity: cap === '0' ? Infinity : Number(cap),
      offset: Number(o),
      time: Number(t),
      isQueued: q === '1',
    };
    return { counter, endsAt, ...numbers, entries: entriesOf(entries), holders, waiters, alive };
  }

  async #scores(name: string): Promise<readonly unknown[]> {
    const flat = await this.redis.client.zrange(name, 0, -1, 'WITHSCORES');
    return flat.flatMap((member, index) => (index % 2 === 0 ? [{ member, score: Number(flat[index + 1]) }] : []));
  }
}

function entriesOf(fields: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields).map(([name, value]) => {
    const [state, weight, capacity, fence, process, description = ''] = value.split('|');
    const entry = {
      state,
      weight: Number(weight),
      capacity: Number(capacity),
      fence: Number(fence),
      process,
      description: unescapeText(description),
    };
    return [name.slice('e:'.length), entry] as const;
  });
  return Object.fromEntries(entries);
}

function stateInMemory(table: LockTable, key: string): unknown {
  const lock = table.find(key);
  if (lock === undefined || !('entries' in lock)) return lock;
  const { entries, holders, waiters, alive, ...rest } = lock;
  const sets = { holders: [...holders], waiters: [...waiters], alive: [...alive] };
  return { ...rest, isQueued: waiters.size > 0, entries: Object.fromEntries(entries), ...sets };
}

/** How long Redis may keep its keys, ms; -2: there is no such key. */
function livesInMemory(table: LockTable, key: string, now: number): readonly number[] {
  const lock = table.find(key);
  if (lock === undefined) return [-2, -2, -2, -2];
  const left = (lock.endsAt - now) / 1000;
  const whole = left + LOCK_LIMITS.memoryMs;
  if (!('entries' in lock)) return [whole, -2, -2, -2];
  return [whole, ...[lock.holders, lock.waiters, lock.alive].map((set) => (set.size > 0 ? left : -2))];
}

/** Real time passes between the script and the look at its keys: a life that is a little shorter is the same. */
function asLived(life: number, seen = Number.NaN): number {
  return life >= 0 && seen <= life && seen > life - 900 ? seen : life;
}

function isBuried(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'buried';
}

/** Channels have no order among each other. */
function inOrder(heard: readonly (readonly [string, LockMessage])[]): readonly unknown[] {
  return PROCESSES.map((process) => heard.filter(([receiver]) => receiver === process));
}
