import { describe } from '@jest/globals';
import type { AdmissionBench } from '../support/admission-bench.js';
import { describeBudgets } from './admission-store.budgets.js';
import { describeLives } from './admission-store.lives.js';
import { describeWaiting } from './admission-store.waiting.js';
import { describeWindows } from './admission-store.windows.js';

/** What every AdmissionStore does, in a time that the test sets. */
export function describeAdmissionStore(name: string, start: () => Promise<AdmissionBench>): void {
  describe(`${name}, windows`, () => {
    describeWindows(start);
  });
  describe(`${name}, waiting`, () => {
    describeWaiting(start);
  });
  describe(`${name}, budgets`, () => {
    describeBudgets(start);
  });
  describe(`${name}, leases and repeated commands`, () => {
    describeLives(start);
  });
}
