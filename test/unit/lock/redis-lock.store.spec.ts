import { describe, expect, it } from '@jest/globals';
import { RedisLockStore } from '../../../src/lock/index.js';
import type { Script, Store, StoreHealth } from '../../../src/store/index.js';

/** One holder, as inspect.lua shows it. */
const HELD = [1, 1, 0, 1, 'token', 'h', 1, 7, 'process', '', 1_000];

/** Finds names and answers every look at a lock, without a server. */
class ListedStore implements Store {
  readonly kind = 'standalone';
  readonly keyPrefix = 't:';
  readonly inspected: string[] = [];
  steps = 0;
  mostAtOnce = 0;
  #atOnce = 0;

  constructor(
    private readonly pages: Iterable<readonly string[]>,
    private readonly isHeld: (name: string) => boolean = () => true,
  ) {}

  async *scan(): AsyncGenerator<readonly string[]> {
    for (const page of this.pages) {
      this.steps += 1;
      yield await Promise.resolve(page);
    }
  }

  async run(_script: Script, [hash = '']: readonly string[]): Promise<unknown> {
    this.inspected.push(hash);
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    await new Promise(setImmediate);
    this.#atOnce -= 1;
    return this.isHeld(hash) ? HELD : [];
  }

  atTurnsEnd(work: () => void): void {
    setImmediate(work);
  }

  subscribe(): Promise<void> {
    return Promise.resolve();
  }

  unsubscribe(): Promise<void> {
    return Promise.resolve();
  }

  health(): StoreHealth {
    return { kind: 'redis', policy: 'refuse', downForMs: 0 };
  }
}

const namesOf = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `t:lk:{${kind}${index}}:e`);

describe('RedisLockStore.list()', () => {
  it('finds those that are held behind any number of names that are over', async () => {
    const pages = [namesOf('over', 300), [], namesOf('held', 10), namesOf('unread', 10)];
    const store = new ListedStore(pages, (hash) => !hash.includes('over'));
    const states = await new RedisLockStore(store).list(5);
    expect(states.map(({ key }) => key)).toEqual(['held0', 'held1', 'held2', 'held3', 'held4']);
    expect(store.steps).toBe(3);
  });

  it('looks at many at once, but at fifty at most, and at each once', async () => {
    const names = namesOf('k', 400);
    const store = new ListedStore([names, names.map((name) => name.replace(/e$/, 'q'))]);
    expect(await new RedisLockStore(store).list(1_000)).toHaveLength(400);
    expect(store.mostAtOnce).toBe(50);
    expect(store.inspected).toHaveLength(400);
  });

  it('goes no further when nobody waits for the answer any more', async () => {
    const leaving = new AbortController();
    function* endless(): Generator<readonly string[]> {
      for (let page = 0; page < 10_000; page += 1) {
        if (page === 3) leaving.abort(new RangeError('left'));
        yield [];
      }
    }
    const store = new ListedStore(endless());
    await expect(new RedisLockStore(store).list(5, leaving.signal)).rejects.toThrow('left');
    expect(store.steps).toBe(4);
  });
});
