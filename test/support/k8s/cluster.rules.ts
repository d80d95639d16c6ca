import { ENVIRONMENT_TABLE } from '../../../src/config/index.js';
import { podRule, unless, type Manifests, type Rule } from './manifests.js';
import { at, itemsAt, membersAt, numberAt, selects, textAt } from './tree.js';

/** What all objects together must be: kube-score's, polaris' and kubescape's names where they have one. */
export const CLUSTER_RULES: readonly Rule[] = [
  { id: 'C-0061-namespace', find: namespaces },
  { id: 'no-rbac', find: rights },
  { id: 'labels', find: labels },
  { id: 'sensitiveConfigmapContent', find: plainSecrets },
  podRule('deployment-has-poddisruptionbudget', ({ owner, labels: own }, manifests) => {
    const budgets = manifests.of('PodDisruptionBudget').map(({ tree }) => at(tree, 'spec', 'selector', 'matchLabels'));
    return unless(
      owner.kind !== 'Deployment' || budgets.some((selector) => selects(selector, own)),
      'it has no budget',
    );
  }),
  { id: 'pdb-lets-nodes-drain', find: budgets },
  { id: 'hpa-bounds', find: autoscalers },
  podRule('deploymentMissingReplicas', ({ owner }, manifests) => {
    if (owner.kind !== 'Deployment') return [];
    const replicas = at(owner.tree, 'spec', 'replicas');
    const isScaled = manifests
      .of('HorizontalPodAutoscaler')
      .some(({ tree }) => textAt(tree, 'spec', 'scaleTargetRef', 'name') === owner.name);
    return isScaled
      ? unless(replicas === undefined, 'an apply sets back what the autoscaler has chosen')
      : unless(Number(replicas) >= 2, 'one pod is no fleet');
  }),
  podRule('rollout', ({ owner }) => {
    const update = at(owner.tree, 'spec', 'strategy', 'rollingUpdate');
    const isSafe = at(update, 'maxUnavailable') === 0 && numberAt(update, 'maxSurge') >= 1;
    return unless(owner.kind !== 'Deployment' || isSafe, 'a rollout takes pods away before there are new ones');
  }),
  podRule('topologySpreadConstraint', ({ owner, spec, labels: own }) => {
    const keys = itemsAt(spec, 'topologySpreadConstraints')
      .filter((constraint) => selects(at(constraint, 'labelSelector', 'matchLabels'), own))
      .map((constraint) => textAt(constraint, 'topologyKey'));
    const isSpread = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].every((key) => keys.includes(key));
    return unless(owner.kind !== 'Deployment' || isSpread, 'it may stand on one node or in one zone');
  }),
  podRule('deployment-has-host-podantiaffinity', ({ owner, spec }) => {
    const terms = itemsAt(spec, 'affinity', 'podAntiAffinity', 'preferredDuringSchedulingIgnoredDuringExecution');
    return unless(owner.kind !== 'Deployment' || terms.length > 0, 'its pods do not avoid each other');
  }),
  { id: 'service-type', find: serviceTypes },
];

const WITHOUT_NAMESPACE = ['Namespace', 'ClusterRole', 'ClusterRoleBinding'];

function namespaces(manifests: Manifests): readonly string[] {
  const [namespace, ...others] = manifests.of('Namespace');
  const level = textAt(namespace?.tree, 'metadata', 'labels', 'pod-security.kubernetes.io/enforce');
  const strays = manifests.all.filter(
    ({ kind, tree }) => !WITHOUT_NAMESPACE.includes(kind) && textAt(tree, 'metadata', 'namespace') !== namespace?.name,
  );
  return [
    ...unless(
      namespace !== undefined && namespace.name !== 'default' && others.length === 0,
      'not one namespace of its own',
    ),
    ...unless(level === 'restricted', 'the namespace does not enforce restricted pods'),
    ...strays.map(({ kind, name }) => `${kind} ${name} is in another namespace`),
  ];
}

function rights(manifests: Manifests): readonly string[] {
  return manifests.all.flatMap(({ kind, name }) =>
    unless(!/Role(Binding)?$/.test(kind), `${kind} ${name} gives rights that nobody needs`),
  );
}

const LABELS = ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'];

function labels({ all, pods }: Manifests): readonly string[] {
  const labelled = [
    ...all
      .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Service'].includes(kind))
      .map(({ kind, name, tree }) => [`${kind} ${name}`, at(tree, 'metadata', 'labels')] as const),
    ...pods.map(({ owner, labels: own }) => [`pods of ${owner.name}`, own] as const),
  ];
  return labelled.flatMap(([what, own]) =>
    LABELS.flatMap((label) =>
      unless(textAt(own, `app.kubernetes.io/${label}`) !== '', `${what}: no app.kubernetes.io/${label}`),
    ),
  );
}

const SECRET_NAMES: ReadonlySet<string> = new Set(
  ENVIRONMENT_TABLE.filter(({ isSecret }) => isSecret).map(({ name }) => name),
);
/** A key of a caller or a provider, a password in a URL, a private key. */
const SECRET_TEXT =
  /-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-[\w-]{16,}|:\/\/[^\s/:@${}]*:[^\s/@${}]+@|^\s*requirepass\s+\S/m;

function plainSecrets(manifests: Manifests): readonly string[] {
  const inConfig = manifests
    .of('ConfigMap')
    .flatMap(({ name, tree }) =>
      membersAt(tree, 'data').flatMap(([key, value]) => [
        ...unless(!SECRET_NAMES.has(key), `ConfigMap ${name} has ${key}: give its file`),
        ...unless(!SECRET_TEXT.test(String(value)), `ConfigMap ${name}: ${key} holds a secret`),
      ]),
    );
  return [...inConfig, ...manifests.of('Secret').map(({ name }) => `Secret ${name} would be committed`)];
}

function budgets(manifests: Manifests): readonly string[] {
  return manifests.of('PodDisruptionBudget').flatMap(({ name, tree }) => {
    const [least, most] = [at(tree, 'spec', 'minAvailable'), at(tree, 'spec', 'maxUnavailable')];
    return [
      ...unless(
        (least === undefined) !== (most === undefined),
        `${name} has not just one of minAvailable and maxUnavailable`,
      ),
      ...unless(most !== 0 && most !== '0%' && least !== '100%', `${name} keeps every node from being emptied`),
      ...unless(
        textAt(tree, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow',
        `${name}: a pod that crashes blocks a node`,
      ),
    ];
  });
}

function autoscalers(manifests: Manifests): readonly string[] {
  return manifests.of('HorizontalPodAutoscaler').flatMap(({ name, tree }) => {
    const [least, most] = [numberAt(tree, 'spec', 'minReplicas'), numberAt(tree, 'spec', 'maxReplicas')];
    return unless(least >= 2 && most > least, `${name} goes from ${String(least)} to ${String(most)}`);
  });
}

function serviceTypes(manifests: Manifests): readonly string[] {
  return manifests
    .of('Service')
    .flatMap(({ name, tree }) =>
      unless(textAt(tree, 'spec', 'type') === 'ClusterIP', `${name} is reached from outside`),
    );
}
