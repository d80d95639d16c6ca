import Sequencer from '@jest/test-sequencer';

/** What waits for leases, windows and deadlines for most of its 5 to 40 s: paths under test/ without `.spec.ts`, the longest first. */
const WAITING = [
  'integration/lock-contract-standalone',
  'integration/lock-contract-faults',
  'integration/lock-contract-prefixed',
  'integration/fleet-pods',
  'integration/admission-service',
  'integration/conversation-shutdown',
  'integration/quotas',
  'integration/lock-contract-redis',
  'integration/store-topologies',
  'integration/lock-contract-cluster',
  'integration/lock-contract-sentinel',
  'integration/ledger-outage',
];

/** What computes for 5 s or more, or starts servers for as long. */
const LONG = [
  'simulation/mutations',
  'integration/lock-script-mutations',
  'unit/tokens/event-loop',
  'integration/lock-contract-memory',
  'integration/kinds-secrets',
  'integration/provider-contract',
  'integration/admission-script-mutations',
  'integration/lock-stores-agree',
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

/**
 * Begins with the long ones, so that none is left to run alone at the end, and spreads those that wait over the whole run, so that
 * the others compute meanwhile. A fresh clone has no times to sort by, and of a contract the size of its file says nothing.
 */
export default class LongFirst extends Sequencer {
  sort(tests) {
    const rest = super.sort(tests);
    const waiting = take(rest, WAITING);
    const computing = [...take(rest, LONG), ...rest];
    if (waiting.length === 0) return computing;
    const start = (share) => Math.floor((share * computing.length) / waiting.length);
    return waiting.flatMap((test, share) => [test, ...computing.slice(start(share), start(share + 1))]);
  }
}

/** Takes the named ones out of `tests`, in the order of their names. */
function take(tests, names) {
  return names.flatMap((name) => {
    const index = tests.findIndex(({ path }) => path.endsWith(`/test/${name}.spec.ts`));
    return index === -1 ? [] : tests.splice(index, 1);
  });
}
