import { describe, expect, it } from '@jest/globals';
import { sized } from '../support/proof-scale.js';
import { ClientRig } from '../support/lock-client-rig.js';
import { loadMutant, type Mutation } from './mutants.js';
import { CAUGHT, COVERED_TWICE, type CoveredTwice, R1_AND_R2_OFF } from './mutations.js';
import { simulate } from './simulation.js';

/** Enough for the rarest; most show within the first ten. */
const MOST_SEEDS = sized(600, 3_000);

describe('the simulation', () => {
  it.each(CAUGHT.map((mutation, index) => ({ ...mutation, index })))(
    'notices when $rule',
    async ({ index, ...mutation }) => {
      await using mutant = await loadMutant(`m${index}`, mutation);
      let violations: readonly string[] = [];
      let seed = 0;
      while (violations.length === 0 && seed < MOST_SEEDS) {
        seed += 1;
        ({ violations } = await simulate(seed, mutant));
      }
      expect(violations).not.toEqual([]);
    },
    120_000,
  );
});

describe('a grant that is told after its time', () => {
  it.each(COVERED_TWICE.map((covered, index) => ({ ...covered, ...covered.mutation, index })))(
    'starts nothing even if $rule, since $coveredBy',
    async ({ mutation, index }: CoveredTwice & { index: number }) => {
      expect(await eventsAfterStaleGrant(`covered${index}`, mutation)).toEqual([]);
    },
  );

  it('would make a second holder without both', async () => {
    expect(await eventsAfterStaleGrant('uncovered', R1_AND_R2_OFF)).toEqual(['held at 2600']);
  });
});

/** The first acquire ran, its grant (11) was not told, its lease is over and 12 is held by another; the second acquire queues anew. */
async function eventsAfterStaleGrant(name: string, mutation: Mutation): Promise<readonly string[]> {
  await using mutant = await loadMutant(name, mutation);
  const rig = new ClientRig(mutant.LockClient);
  rig.acquire();
  rig.pass(1_000);
  rig.acquires[0]?.silence();
  rig.pass(1_600);
  rig.acquires[1]?.answer({ kind: 'queued', ticket: 13, counter: 13, nextExpiryMs: 10_000 });
  rig.client.receive({ kind: 'grant', key: 'k', token: 'p-1', fence: 11, leaseMs: 2_000 });
  return rig.events;
}
