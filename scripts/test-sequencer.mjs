import Sequencer from '@jest/test-sequencer';

/**
 * What takes ten seconds or more, or waits for most of its time, under test/ and without `.spec.ts`. It begins first, those that wait
 * among those that compute: then no core is idle, neither now nor at the end. A fresh clone has no times to sort by, and the size of
 * a file says nothing of a contract's.
 */
const FIRST = [
  'simulation/mutations',
  'integration/lock-contract-standalone',
  'integration/lock-script-mutations',
  'integration/lock-contract-faults',
  'integration/kinds-secrets',
  'integration/lock-contract-prefixed',
  'integration/quotas',
  'integration/conversation-shutdown',
  'integration/admission-script-mutations',
  'integration/fleet-pods',
  'integration/lock-contract-memory',
  'integration/admission-service',
  'integration/provider-contract',
  'integration/store-topologies',
  'integration/lock-stores-agree',
  'integration/lock-contract-redis',
  'simulation/simulation',
  'integration/upstream-failures',
  'e2e/lock-shutdown-server',
  'e2e/signals',
  'e2e/lock-shutdown',
  'recovery/lock-failover',
  'e2e/exact-text',
  'e2e/quota-budgets',
  'recovery/admission-kill',
  'e2e/stuck-output',
  'e2e/any-body',
  'e2e/probes',
];

/** Begins with the long ones, so that none is left to run alone at the end; the others as Jest sorts them. */
export default class LongFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ path }) {
  const rank = FIRST.findIndex((name) => path.endsWith(`/test/${name}.spec.ts`));
  return rank === -1 ? FIRST.length : rank;
}
