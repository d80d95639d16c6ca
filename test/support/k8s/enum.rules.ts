import { type Manifests, type Rule, unless } from './manifests.js';
import { quantity } from './quantities.js';

/** The official types have these fields as any text; an API server takes only some, and quantities. */
export const ENUM_RULES: readonly Rule[] = [{ id: 'enums', find: wrongWords }];

/** The words of a field, or of one within another. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  protocol: ['TCP', 'UDP', 'SCTP'],
  imagePullPolicy: ['Always', 'IfNotPresent', 'Never'],
  whenUnsatisfiable: ['DoNotSchedule', 'ScheduleAnyway'],
  unhealthyPodEvictionPolicy: ['AlwaysAllow', 'IfHealthyBudget'],
  pathType: ['Exact', 'Prefix', 'ImplementationSpecific'],
  policyTypes: ['Ingress', 'Egress'],
  accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
  'strategy.type': ['Recreate', 'RollingUpdate'],
  'metrics.type': ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'],
  'target.type': ['AverageValue', 'Utilization', 'Value'],
  'policies.type': ['Percent', 'Pods'],
};
const QUANTITIES = ['sizeLimit', 'storage'];

function wrongWords(manifests: Manifests): readonly string[] {
  return manifests.all.flatMap(({ kind, name, tree }) =>
    textsIn(tree, []).flatMap(([path, text]) =>
      unless(isKnown(path, text), `${kind} ${name}: ${path.join('.')} is ${text}`),
    ),
  );
}

function isKnown(path: readonly string[], text: string): boolean {
  const [within = '', field = ''] = path.slice(-2);
  const words = WORDS[`${within}.${field}`] ?? WORDS[field];
  if (QUANTITIES.includes(field)) return quantity(text) > 0;
  return words === undefined || words.includes(text);
}

/** Every text of a tree with the names of the fields that it lies in; the items of a list lie in the list's field. */
function textsIn(tree: unknown, path: readonly string[]): readonly (readonly [readonly string[], string])[] {
  if (typeof tree === 'string') return [[path, tree]];
  if (Array.isArray(tree)) return tree.flatMap((item) => textsIn(item, path));
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([name, member]) => textsIn(member, [...path, name]));
}
