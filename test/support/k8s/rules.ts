import { CLUSTER_RULES } from './cluster.rules.js';
import { ENUM_RULES } from './enum.rules.js';
import type { Manifests, Rule } from './manifests.js';
import { NETWORK_RULES } from './network.rules.js';
import { POD_RULES } from './pod.rules.js';
import { REFERENCE_RULES } from './reference.rules.js';
import { SERVER_RULES } from './server.rules.js';

export const RULES: readonly Rule[] = [
  ...REFERENCE_RULES,
  ...ENUM_RULES,
  ...POD_RULES,
  ...CLUSTER_RULES,
  ...NETWORK_RULES,
  ...SERVER_RULES,
];

/**
 * What breaks the rules, with how: `<rule>: <fault>`.
 *
 * @param rules default: all
 */
export function faultsIn(manifests: Manifests, rules: readonly Rule[] = RULES): readonly string[] {
  return rules.flatMap(({ id, find }) => find(manifests).map((fault) => `${id}: ${fault}`));
}
