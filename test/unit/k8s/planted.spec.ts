import { beforeAll, describe, expect, it } from '@jest/globals';
import 'reflect-metadata';
import { Manifests } from '../../support/k8s/manifests.js';
import { plant, RULE_FAULTS, SCHEMA_FAULTS } from '../../support/k8s/planted.faults.js';
import { faultsIn, RULES } from '../../support/k8s/rules.js';
import { schemaFaults } from '../../support/k8s/schema.faults.js';

describe('the rules for manifests', () => {
  it.each(RULE_FAULTS)('find by %s what is wrong with %j', (...fault) => {
    const rules = RULES.filter(({ id }) => id === fault[0]);
    expect(faultsIn(new Manifests(plant(fault)), rules)).not.toEqual([]);
  });

  it('have each a fault that only it could miss', () => {
    const tried = new Set(RULE_FAULTS.map(([rule]) => rule));
    expect([...new Set(RULES.map(({ id }) => id))].filter((id) => !tried.has(id))).toEqual([]);
  });
});

describe("Kubernetes' schema", () => {
  let faults: ReadonlyMap<string, readonly string[]>;

  beforeAll(() => {
    // One run of the compiler for all of them.
    faults = schemaFaults(new Map(SCHEMA_FAULTS.map((fault) => [fault[0], new Manifests(plant(fault)).all])));
  });

  it.each(SCHEMA_FAULTS)('tells %s', (what) => {
    expect(faults.get(what)).toHaveLength(1);
  });
});
