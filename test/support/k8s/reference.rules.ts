import { containersOf, podRule, unless, type Manifests, type PodTemplate, type Rule } from './manifests.js';
import { at, itemsAt, membersAt, selects, textAt } from './tree.js';

/** What one object says about another one is so. */
export const REFERENCE_RULES: readonly Rule[] = [
  { id: 'unique-names', find: duplicates },
  podRule('selector-selects-own-pods', ({ owner, labels }) =>
    unless(selects(at(owner.tree, 'spec', 'selector', 'matchLabels'), labels), 'its selector does not fit its pods'),
  ),
  { id: 'service-targets-pod', find: (all) => selectorsHit(all, 'Service', ['spec', 'selector']) },
  {
    id: 'poddisruptionbudget-targets-pod',
    find: (all) => selectorsHit(all, 'PodDisruptionBudget', ['spec', 'selector', 'matchLabels']),
  },
  {
    id: 'networkpolicy-targets-pod',
    find: (all) => selectorsHit(all, 'NetworkPolicy', ['spec', 'podSelector', 'matchLabels']),
  },
  { id: 'horizontalpodautoscaler-has-target', find: autoscalerTargets },
  { id: 'service-port-exists', find: servicePorts },
  podRule('probe-port-exists', ({ spec }) => containersOf(spec).flatMap(probePorts)),
  { id: 'networkpolicy-port-exists', find: policyPorts },
  { id: 'ingress-targets-service', find: ingressBackends },
  { id: 'servicemonitor-targets-service', find: monitorTargets },
  podRule('mount-has-volume', mountsAndVolumes),
  podRule('config-exists', configReferences),
  { id: 'config-is-used', find: unusedConfig },
  podRule('service-account-exists', ({ spec }, manifests) => {
    const account = textAt(spec, 'serviceAccountName');
    return unless(account === '' || manifests.named('ServiceAccount', account) !== undefined, `there is no ${account}`);
  }),
];

function duplicates({ all }: Manifests): readonly string[] {
  const names = all.map(({ kind, name }) => `${kind} ${name}`);
  return names.filter((name, index) => names.indexOf(name) !== index);
}

function selectorsHit(manifests: Manifests, kind: string, path: readonly string[]): readonly string[] {
  return manifests
    .of(kind)
    .filter(({ tree }) => membersAt(tree, ...path).length > 0)
    .flatMap(({ name, tree }) =>
      unless(podsOf(manifests, at(tree, ...path)).length > 0, `${kind} ${name} selects no pod`),
    );
}

function podsOf({ pods }: Manifests, selector: unknown): readonly PodTemplate[] {
  return pods.filter(({ labels }) => selects(selector, labels));
}

function portNamesOf(pods: readonly PodTemplate[]): readonly string[] {
  return pods.flatMap(({ spec }) =>
    containersOf(spec).flatMap((container) => itemsAt(container, 'ports').map((port) => textAt(port, 'name'))),
  );
}

function autoscalerTargets(manifests: Manifests): readonly string[] {
  return manifests.of('HorizontalPodAutoscaler').flatMap(({ name, tree }) => {
    const target = at(tree, 'spec', 'scaleTargetRef');
    return unless(
      manifests.named(textAt(target, 'kind'), textAt(target, 'name')) !== undefined,
      `${name} has no target`,
    );
  });
}

function servicePorts(manifests: Manifests): readonly string[] {
  return manifests.of('Service').flatMap(({ name, tree }) => {
    const known = portNamesOf(podsOf(manifests, at(tree, 'spec', 'selector')));
    return itemsAt(tree, 'spec', 'ports').flatMap((port) =>
      unless(
        known.includes(textAt(port, 'targetPort')),
        `Service ${name}: no pod has the port ${textAt(port, 'targetPort')}`,
      ),
    );
  });
}

const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe'];

function probePorts(container: unknown): readonly string[] {
  const known = itemsAt(container, 'ports').map((port) => textAt(port, 'name'));
  return PROBES.flatMap((probe) => {
    const port = textAt(container, probe, 'httpGet', 'port') + textAt(container, probe, 'tcpSocket', 'port');
    return unless(port === '' || known.includes(port), `${probe}: there is no port ${port}`);
  });
}

function policyPorts(manifests: Manifests): readonly string[] {
  const known = portNamesOf(manifests.pods);
  return manifests.of('NetworkPolicy').flatMap(({ name, tree }) =>
    [...itemsAt(tree, 'spec', 'ingress'), ...itemsAt(tree, 'spec', 'egress')].flatMap((rule) =>
      itemsAt(rule, 'ports')
        .map((port) => textAt(port, 'port'))
        .flatMap((port) =>
          unless(port === '' || known.includes(port), `NetworkPolicy ${name}: no pod has the port ${port}`),
        ),
    ),
  );
}

function ingressBackends(manifests: Manifests): readonly string[] {
  return manifests.of('Ingress').flatMap(({ name, tree }) =>
    itemsAt(tree, 'spec', 'rules')
      .flatMap((rule) => itemsAt(rule, 'http', 'paths'))
      .flatMap((path) => {
        const service = manifests.named('Service', textAt(path, 'backend', 'service', 'name'));
        const ports = itemsAt(service?.tree, 'spec', 'ports').map((port) => textAt(port, 'name'));
        return unless(ports.includes(textAt(path, 'backend', 'service', 'port', 'name')), `${name} leads nowhere`);
      }),
  );
}

function monitorTargets(manifests: Manifests): readonly string[] {
  return manifests.of('ServiceMonitor').flatMap(({ name, tree }) => {
    const selector = at(tree, 'spec', 'selector', 'matchLabels');
    const services = manifests
      .of('Service')
      .filter((service) => selects(selector, at(service.tree, 'metadata', 'labels')));
    const ports = services.flatMap((service) =>
      itemsAt(service.tree, 'spec', 'ports').map((port) => textAt(port, 'name')),
    );
    return itemsAt(tree, 'spec', 'endpoints').flatMap((endpoint) =>
      unless(ports.includes(textAt(endpoint, 'port')), `${name} scrapes no service`),
    );
  });
}

function mountsAndVolumes({ owner, spec }: PodTemplate): readonly string[] {
  const claims = itemsAt(owner.tree, 'spec', 'volumeClaimTemplates').map((claim) => textAt(claim, 'metadata', 'name'));
  const volumes = [...itemsAt(spec, 'volumes').map((volume) => textAt(volume, 'name')), ...claims];
  const mounts = containersOf(spec).flatMap((container) =>
    itemsAt(container, 'volumeMounts').map((mount) => textAt(mount, 'name')),
  );
  return [
    ...mounts.flatMap((mount) => unless(volumes.includes(mount), `there is no volume ${mount}`)),
    ...volumes.flatMap((volume) => unless(mounts.includes(volume), `nobody mounts ${volume}`)),
  ];
}

function configNamesOf({ spec }: PodTemplate): readonly string[] {
  const volumes = itemsAt(spec, 'volumes').map((volume) => textAt(volume, 'configMap', 'name'));
  const environments = containersOf(spec).flatMap((container) =>
    itemsAt(container, 'envFrom').map((source) => textAt(source, 'configMapRef', 'name')),
  );
  return [...volumes, ...environments].filter((name) => name !== '');
}

function configReferences(pod: PodTemplate, manifests: Manifests): readonly string[] {
  return configNamesOf(pod).flatMap((name) =>
    unless(manifests.named('ConfigMap', name) !== undefined, `there is no ConfigMap ${name}`),
  );
}

/** A dashboard is read by Grafana's sidecar, by its label. */
function unusedConfig(manifests: Manifests): readonly string[] {
  const used = manifests.pods.flatMap(configNamesOf);
  return manifests
    .of('ConfigMap')
    .flatMap(({ name, tree }) =>
      unless(
        used.includes(name) || textAt(tree, 'metadata', 'labels', 'grafana_dashboard') === '1',
        `nobody uses ConfigMap ${name}`,
      ),
    );
}
