import { describe, expect, it } from '@jest/globals';
import { MemoryAdmissionStore } from '../../../src/admission/memory-admission.store.js';
import { describeAdmissionStore } from '../../contract/admission-store.contract.js';
import { memoryBench, scopeOf, ScopeDriver } from '../../support/admission-bench.js';

describeAdmissionStore('MemoryAdmissionStore', memoryBench);

describe('MemoryAdmissionStore', () => {
  it('forgets scopes and budgets of which nobody speaks any more', async () => {
    const clock = { us: 1_764_421_836_000_000 };
    const store = new MemoryAdmissionStore({ clock: () => clock.us });
    const bench = { store, clock, heard: () => Promise.resolve([]), close: () => Promise.resolve() };
    const limits = { concurrency: 1, budgets: [{ unit: 'usd', period: 'day', limit: 10 }] } as const;
    const driver = (name: string): ScopeDriver => new ScopeDriver(bench, scopeOf(limits, name));
    for (let number = 0; number < 100; number += 1) {
      await driver(`caller:${number}`).acquire('p1-1', { microUsd: 1 });
      await driver(`caller:${number}`).settle('p1-1', 0, 1);
    }
    expect(store.size).toBe(200);
    clock.us += 600_000_000;
    await driver('other').inspect();
    expect(store.size).toBe(100);
    clock.us += 41 * 86_400_000_000;
    await driver('other').inspect();
    expect(store.size).toBe(0);
  });
});
