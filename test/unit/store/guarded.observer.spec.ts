import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { guardedObserver } from '../../../src/store/index.js';

interface Watcher {
  seen(what: string, often: number): void;
}

const warnings = jest.spyOn(process, 'emitWarning');

beforeEach(() => {
  warnings.mockReset();
});
afterAll(() => {
  warnings.mockRestore();
});

describe('guardedObserver()', () => {
  it('tells the observer as it is told, itself', () => {
    class Counter implements Watcher {
      readonly #seen: string[] = [];

      get all(): readonly string[] {
        return this.#seen;
      }

      seen(what: string, often: number): void {
        this.#seen.push(`${what} ${String(often)}`);
      }
    }
    const counter = new Counter();
    const watcher: Watcher = guardedObserver(counter, 'birds');
    watcher.seen('wren', 2);
    watcher.seen('rook', 1);
    expect(counter.all).toEqual(['wren 2', 'rook 1']);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('keeps what it throws, warns once, and goes on telling it', () => {
    const told: string[] = [];
    const watcher = guardedObserver<Watcher>(
      {
        seen: (what) => {
          told.push(what);
          throw new Error(`no room for ${what}`);
        },
      },
      'birds',
    );
    watcher.seen('wren', 1);
    watcher.seen('rook', 1);
    expect(told).toEqual(['wren', 'rook']);
    expect(warnings.mock.calls).toEqual([
      ['the observer of birds failed, and goes on being told: Error: no room for wren', 'ObserverWarning'],
    ]);
  });
});
