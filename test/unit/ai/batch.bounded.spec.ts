import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AbortScope } from '../../../src/ai/batch/abort.scope.js';
import { runBounded } from '../../../src/ai/batch/bounded.js';

/** Works that end when the test says so, and what was seen of them. */
class Works {
  readonly begun: number[] = [];
  most = 0;
  readonly #open = new Map<number, () => void>();

  readonly work = (index: number): Promise<void> => {
    this.begun.push(index);
    return new Promise((resolve) => {
      this.#open.set(index, resolve);
      this.most = Math.max(this.most, this.#open.size);
    });
  };

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** Ends one of those that are under way. */
  end(pick: number): void {
    const [index, resolve] = [...this.#open][pick % this.#open.size] ?? [];
    if (index === undefined) return;
    this.#open.delete(index);
    resolve?.();
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('runBounded()', () => {
  it('begins all in their order, never more at one time than it may, and always as many as it may', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(100), { minLength: 40, maxLength: 40 }),
      async (count, concurrency, picks) => {
        const works = new Works();
        const run = runBounded(count, { concurrency, signal: new AbortController().signal }, works.work);
        for (const pick of picks) {
          await settled();
          if (works.isIdle) break;
          works.end(pick);
        }
        await run;
        expect(works.begun).toEqual(Array.from({ length: count }, (_, index) => index));
        expect(works.most).toBe(Math.min(count, concurrency));
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });

  it('begins none after the signal has aborted, and waits for those that were begun', async () => {
    const property = fc.asyncProperty(fc.nat(20), fc.integer({ min: 1, max: 8 }), async (before, concurrency) => {
      const works = new Works();
      const leaving = new AbortController();
      let isOver = false;
      const run = runBounded(30, { concurrency, signal: leaving.signal }, works.work).then(() => (isOver = true));
      for (let ended = 0; ended < before; ended += 1) {
        await settled();
        works.end(ended);
      }
      await settled();
      leaving.abort();
      const begun = works.begun.length;
      while (!works.isIdle) {
        expect(isOver).toBe(false);
        works.end(0);
        await settled();
      }
      await run;
      expect(works.begun).toHaveLength(begun);
    });
    await fc.assert(property, { numRuns: 30 });
  });
});

describe('AbortScope', () => {
  it('aborts what is under way with the reason of the signal above, and leaves no listener behind', async () => {
    const above = new AbortController();
    const scope = new AbortScope(above.signal);
    let over: AbortSignal | undefined;
    await scope.within((own) => Promise.resolve((over = own)));
    const seen: unknown[] = [];
    const works = Array.from({ length: 50 }, () =>
      scope.within(
        (own) =>
          new Promise<void>((resolve) => {
            own.addEventListener('abort', () => {
              seen.push(own.reason);
              resolve();
            });
          }),
      ),
    );
    const reason = new Error('gone');
    above.abort(reason);
    await Promise.all(works);
    scope.close();
    expect(seen).toEqual(Array(50).fill(reason));
    expect(over?.aborted).toBe(false);
    expect(await scope.within((own) => Promise.resolve(own.reason as unknown))).toBe(reason);
  });
});
