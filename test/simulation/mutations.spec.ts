import { describe, expect, it } from '@jest/globals';
import { ClientRig } from '../support/lock-client-rig.js';
import { recordFigures } from '../support/figures.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { loadMutant, type Mutation } from './mutants.js';
import { CLIENT_MUTATIONS } from './mutations.client.js';
import { COMFORTS, LAYERS, NO_STALE_GRANT_LAYER, STALE_GRANT_LAYERS } from './mutations.layers.js';
import { STORE_MUTATIONS } from './mutations.store.js';
import { simulate } from './simulation.js';

/** Enough for the rarest; most show within the first ten. */
const MOST_SEEDS = sized(1_000, 5_000);
/** With a layer or a comfort gone. Over ten times as many, three losses may coincide that no single layer is left for. */
const CLEAN_SEEDS = sized(30, 150);
const TIMEOUT_MS = sized(120_000, 3_600_000);

/** Seeds that show what is rare: `npm test` begins with them, the full proof looks for the first. */
const SHOWN_BY: Readonly<Record<string, number>> = {
  'who does not wait claims on and on': 175,
  'a late word of the acquire ends the minimum hold': 362,
  'what is revoked is renewed': 49,
  'the counter is forgotten at rest': 32,
  'the dead are let in': 91,
  'an extension that is not answered counts as one that is': 28,
  'the capacity of who is refused stays': 24,
  'a repeated acquire takes back what was revoked or released': 23,
  'a refused renewal ends nothing': 21,
  'a renewal makes the lease shorter': 20,
  'time follows the clock back': 20,
  'nobody is told at the deadline': 17,
  'the time that a beat says is left counts from its receipt': 11,
  'an acquire is no sign of life before others are looked at': 96,
  'both a grant that is told after its token was given up is not undone': 616,
  'both a place that is answered after its token was given up is not undone': 616,
};

const mutations = [...CLIENT_MUTATIONS, ...STORE_MUTATIONS];

describe('the simulation notices when', () => {
  it.each(mutations)(
    '$rule',
    async (mutation) => {
      const { seed, violations } = await firstViolations(mutation, MOST_SEEDS);
      expect(violations).not.toEqual([]);
      recordFigures('simulation-mutations', { [mutation.rule]: { caughtBySeed: seed, as: ruleOf(violations[0]) } });
    },
    TIMEOUT_MS,
  );
});

describe('of two layers, the simulation sees no harm while one is left:', () => {
  it.each(LAYERS)(
    '$rule, but $coveredBy',
    async ({ rule, change, other }) => {
      expect((await firstViolations({ rule, changes: [change] }, CLEAN_SEEDS)).violations).toEqual([]);
      const both = await firstViolations({ rule: `both ${rule}`, changes: [change, other] }, MOST_SEEDS);
      expect(both.violations).not.toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('what costs time only does no harm:', () => {
  it.each(COMFORTS)(
    '$rule',
    async (mutation) => {
      expect((await firstViolations(mutation, CLEAN_SEEDS)).violations).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('a grant that is told after its time', () => {
  it.each(STALE_GRANT_LAYERS)('starts nothing even if $rule, since $coveredBy', async (mutation) => {
    expect(await eventsAfterStaleGrant(mutation)).toEqual([]);
  });

  it('would make a second holder without both', async () => {
    expect(await eventsAfterStaleGrant(NO_STALE_GRANT_LAYER)).toEqual(['held at 2600']);
  });
});

async function firstViolations(
  mutation: Mutation,
  most: number,
): Promise<{ readonly seed: number; readonly violations: readonly string[] }> {
  await using mutant = await loadMutant(mutation);
  for (const seed of seedsFor(mutation.rule, most)) {
    const { violations } = await simulate(seed, mutant);
    if (violations.length > 0) return { seed, violations };
  }
  return { seed: most, violations: [] };
}

function seedsFor(rule: string, most: number): readonly number[] {
  const seeds = Array.from({ length: most }, (_, index) => index + 1);
  const shownBy = SHOWN_BY[rule];
  return isFullProof || shownBy === undefined ? seeds : [shownBy, ...seeds];
}

/** `exclusion: a: w1 until …` -> `exclusion` */
function ruleOf(violation = ''): string {
  return violation.slice(0, violation.indexOf(':'));
}

/** The first acquire ran, its grant (11) was not told, its lease is over and 12 is held by another; the second acquire queues anew. */
async function eventsAfterStaleGrant(mutation: Mutation): Promise<readonly string[]> {
  await using mutant = await loadMutant(mutation);
  const rig = new ClientRig(mutant.LockClient);
  rig.acquire();
  rig.pass(1_000);
  rig.acquires[0]?.silence();
  rig.pass(1_600);
  rig.acquires[1]?.answer({ kind: 'queued', ticket: 13, counter: 13, nextExpiryMs: 10_000 });
  rig.client.receive({ kind: 'grant', key: 'k', token: 'p-1', fence: 11, leaseMs: 2_000 });
  return rig.events;
}
