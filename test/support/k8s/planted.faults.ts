import { renderedText } from './manifests.js';

/** A fault in a rendered overlay: who must find it, a text that stands there, what stands there in its place, and where. */
export type PlantedFault = readonly [finder: string, text: string, instead: string, overlay?: string];

/** For each rule a fault that it must find, by the overlay `external-monitored` unless another has it. */
export const RULE_FAULTS: readonly PlantedFault[] = [
  ['unique-names', 'name: coordinator-metrics\n', 'name: coordinator\n'],
  [
    'selector-selects-own-pods',
    '    matchLabels:\n      app.kubernetes.io/component: server\n      app.kubernetes.io/name: ai-api-coordinator\n  strategy',
    '    matchLabels:\n      app.kubernetes.io/component: serve\n      app.kubernetes.io/name: ai-api-coordinator\n  strategy',
  ],
  [
    'service-targets-pod',
    '  selector:\n    app.kubernetes.io/component: server\n',
    '  selector:\n    app.kubernetes.io/component: servr\n',
  ],
  [
    'poddisruptionbudget-targets-pod',
    'maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/component: server',
    'maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/component: servr',
  ],
  ['deployment-has-poddisruptionbudget', 'kind: PodDisruptionBudget', 'kind: ConfigMap'],
  [
    'networkpolicy-targets-pod',
    '  podSelector:\n    matchLabels:\n      app.kubernetes.io/component: store',
    '  podSelector:\n    matchLabels:\n      app.kubernetes.io/component: stor',
    'dev',
  ],
  [
    'horizontalpodautoscaler-has-target',
    'kind: Deployment\n    name: coordinator',
    'kind: Deployment\n    name: coordinate',
  ],
  ['service-port-exists', 'targetPort: http\n', 'targetPort: htp\n'],
  ['probe-port-exists', 'path: /ready\n            port: http', 'path: /ready\n            port: htp'],
  ['networkpolicy-port-exists', '- port: metrics\n', '- port: metric\n'],
  ['ingress-targets-service', 'service:\n            name: coordinator', 'service:\n            name: coordinate'],
  ['servicemonitor-targets-service', '    port: metrics\n    scrapeTimeout', '    port: metric\n    scrapeTimeout'],
  ['mount-has-volume', 'mountPath: /tmp\n          name: tmp', 'mountPath: /tmp\n          name: temp'],
  ['config-exists', 'configMap:\n          name: coordinator-file-', 'configMap:\n          name: coordinator-files-'],
  ['config-is-used', 'configMap:\n          name: coordinator-file-', 'configMap:\n          name: coordinator-files-'],
  ['config-is-used', 'grafana_dashboard: "1"', 'grafana_dashboards: "1"'],
  ['service-account-exists', 'serviceAccountName: coordinator', 'serviceAccountName: coordinate'],
  ['enums', 'protocol: TCP', 'protocol: TPC'],
  ['enums', 'imagePullPolicy: IfNotPresent', 'imagePullPolicy: IfAbsent'],
  ['enums', 'pathType: Prefix', 'pathType: prefix'],
  ['enums', 'type: Utilization', 'type: Utilisation'],
  ['enums', 'storage: 1Gi', 'storage: 1GB', 'dev'],
  ['pss-restricted', 'runAsNonRoot: true', 'runAsNonRoot: false'],
  ['pss-restricted', 'runAsUser: 10001', 'runAsUser: 0'],
  ['pss-restricted', 'type: RuntimeDefault', 'type: Unconfined'],
  ['pss-restricted', 'enableServiceLinks: false', 'enableServiceLinks: false\n      hostNetwork: true'],
  ['pss-restricted', 'allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true'],
  ['pss-restricted', 'privileged: false', 'privileged: true'],
  ['pss-restricted', '            drop:\n            - ALL', '            drop:\n            - NET_RAW'],
  ['notReadOnlyRootFilesystem', 'readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
  ['automountServiceAccountToken', '      automountServiceAccountToken: false\n', ''],
  ['enableServiceLinks', 'enableServiceLinks: false', 'enableServiceLinks: true'],
  ['volumes', 'emptyDir:\n          sizeLimit: 64Mi', 'emptyDir: {}'],
  ['volumes', 'emptyDir:\n          sizeLimit: 64Mi', 'hostPath: { path: /tmp }'],
  ['container-resources', 'memory: 1Gi', 'memory: 512Mb'],
  ['container-resources', 'memory: 1Gi', 'memory: 1Ti'],
  ['container-resources', 'memory: 512Mi', 'memory: 2Gi'],
  ['container-resources', 'cpu: 500m', 'cpu: none'],
  [
    'container-image-tag',
    'image: registry.example.com/ai-api-coordinator:0.1.0',
    'image: registry.example.com/ai-api-coordinator:latest',
  ],
  ['pod-probes', 'path: /ready', 'path: /health'],
  ['pod-probes', 'startupProbe:', 'startProbe:'],
  [
    'one-probe-handler',
    'sleep:\n              seconds: 5',
    'sleep:\n              seconds: 5\n            exec: { command: [sleep] }',
  ],
  [
    'sensitiveContainerEnvVar',
    '        image: reg',
    '        env: [{ name: OPENAI_API_KEY, value: made-up }]\n        image: reg',
  ],
  ['sensitiveConfigmapContent', '  UPSTREAM: simulator', '  UPSTREAM: simulator\n  REDIS_PASSWORD: made-up', 'dev'],
  [
    'sensitiveConfigmapContent',
    '  UPSTREAM: simulator',
    '  UPSTREAM: simulator\n  PROXY: http://me:made-up@proxy:80',
    'dev',
  ],
  ['sensitiveConfigmapContent', 'kind: ServiceAccount', 'kind: Secret'],
  ['C-0061-namespace', '  namespace: ai-api-coordinator\n', '  namespace: default\n'],
  [
    'C-0061-namespace',
    'pod-security.kubernetes.io/enforce: restricted',
    'pod-security.kubernetes.io/enforce: baseline',
  ],
  ['no-rbac', 'kind: ServiceAccount', 'kind: RoleBinding'],
  ['labels', '        app.kubernetes.io/part-of: ai-api-coordinator\n', ''],
  ['labels', '        app.kubernetes.io/managed-by: kustomize\n', '', 'dev'],
  ['pdb-lets-nodes-drain', '  maxUnavailable: 1\n', '  maxUnavailable: 0\n'],
  ['pdb-lets-nodes-drain', '  maxUnavailable: 1\n', '  maxUnavailable: 1\n  minAvailable: 1\n'],
  ['hpa-bounds', 'minReplicas: 3', 'minReplicas: 1'],
  ['deploymentMissingReplicas', 'revisionHistoryLimit: 5', 'replicas: 3\n  revisionHistoryLimit: 5'],
  ['deploymentMissingReplicas', 'replicas: 3', 'replicas: 1', 'sentinel'],
  ['rollout', 'maxUnavailable: 0', 'maxUnavailable: 1'],
  ['topologySpreadConstraint', 'topologyKey: topology.kubernetes.io/zone', 'topologyKey: topology.kubernetes.io/zones'],
  [
    'deployment-has-host-podantiaffinity',
    'preferredDuringSchedulingIgnoredDuringExecution',
    'preferredDuringScheduling',
  ],
  ['service-type', 'type: ClusterIP', 'type: NodePort'],
  ['default-deny', '  podSelector: {}', '  podSelector: { matchLabels: { a: b } }'],
  [
    'pod-networkpolicy',
    '  policyTypes:\n  - Ingress\n  - Egress\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  labels:\n    app.kubernetes.io/component: server',
    '  policyTypes:\n  - Egress\n---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  labels:\n    app.kubernetes.io/component: server',
  ],
  [
    'no-open-door',
    'namespaceSelector:\n        matchLabels:\n          kubernetes.io/metadata.name: monitoring',
    'namespaceSelector: {}',
  ],
  ['C-0052-metadata-api', '        - 169.254.0.0/16\n', ''],
  ['dns', '    - port: 53\n      protocol: TCP\n', ''],
  ['known-variables', '  STORE: redis', '  STORRE: redis'],
  ['boots', '  SHUTDOWN_GRACE_MS: "130000"', '  SHUTDOWN_GRACE_MS: two minutes'],
  ['boots', '/run/secrets/coordinator/caller-keys', '/run/secrets/coordinator/callers'],
  ['boots', '  REDIS_SENTINEL_MASTER: mymaster\n', '', 'sentinel'],
  ['ports', 'containerPort: 8080', 'containerPort: 3000'],
  ['probe-routes', 'path: /ready', 'path: /readyz'],
  ['grace', 'terminationGracePeriodSeconds: 150', 'terminationGracePeriodSeconds: 140'],
  ['grace', '  SHUTDOWN_GRACE_MS: "130000"', '  SHUTDOWN_GRACE_MS: "20000"'],
  ['grace', '  DRAIN_DELAY_MS: "5000"', '  DRAIN_DELAY_MS: "0"'],
  ['heap', '--max-old-space-size=672', '--max-old-space-size=1024'],
  ['expected-pods', '  EXPECTED_PODS: "10"', '  EXPECTED_PODS: "3"'],
  ['shipped-file', 'ownedBy: deepseek', 'ownedBy: nobody'],
];

/** What only the schema finds. */
export const SCHEMA_FAULTS: readonly PlantedFault[] = [
  ['a misspelt field', '  replicas: 3', '  replica: 3', 'sentinel'],
  ['a misspelt probe', 'readinessProbe:', 'readinesProbe:'],
  ['a word for a number', '  replicas: 3', '  replicas: three', 'sentinel'],
  ['a text for a number', 'containerPort: 8080', 'containerPort: "8080"'],
  ['an autoscaler without its maximum', '  maxReplicas: 10\n', ''],
  [
    'a deployment without its selector',
    '  selector:\n    matchLabels:\n      app.kubernetes.io/component: server\n      app.kubernetes.io/name: ai-api-coordinator\n  strategy:',
    '  strategy:',
  ],
  ['a removed API of deployments', 'apiVersion: apps/v1\nkind', 'apiVersion: apps/v1beta1\nkind'],
  ['a removed API of autoscalers', 'apiVersion: autoscaling/v2', 'apiVersion: autoscaling/v2beta2'],
  ['a removed API of budgets', 'apiVersion: policy/v1', 'apiVersion: policy/v1beta1'],
  ['a number in a map of texts', '  REDIS_PORT: "6379"', '  REDIS_PORT: 6379'],
  ['a misspelt field of a monitor', 'scrapeTimeout:', 'scrapeTimout:'],
  ['a severity that nobody routes', 'severity: info', 'severity: inform'],
  ['an unknown kind', 'kind: ServiceAccount', 'kind: ServiceAcount'],
];

/** @throws Error where the text does not stand there: a fault that cannot be planted proves nothing */
export function plant([, text, instead, overlay = 'external-monitored']: PlantedFault): string {
  const sound = renderedText(overlay);
  if (!sound.includes(text))
    throw new Error(`${overlay}.yaml has no ${JSON.stringify(text)} to put a fault in its place`);
  return sound.replace(text, instead);
}
