import { containerRule, podRule, unless, type PodTemplate, type Rule } from './manifests.js';
import { quantity } from './quantities.js';
import { at, itemsAt, membersAt, textAt } from './tree.js';

/**
 * What a pod must be. The names are those of kube-score, polaris and the Pod Security Standards (restricted); the checks are ours.
 */
export const POD_RULES: readonly Rule[] = [
  podRule('pss-restricted', podSecurity),
  containerRule('pss-restricted', containerSecurity),
  containerRule('notReadOnlyRootFilesystem', (container) =>
    unless(at(container, 'securityContext', 'readOnlyRootFilesystem') === true, 'its root can be written'),
  ),
  podRule('automountServiceAccountToken', ({ spec }) =>
    unless(at(spec, 'automountServiceAccountToken') === false, 'it gets a token of the Kubernetes API'),
  ),
  podRule('enableServiceLinks', ({ spec }) =>
    unless(at(spec, 'enableServiceLinks') === false, 'services may set its environment'),
  ),
  podRule('volumes', boundedVolumes),
  containerRule('container-resources', resources),
  containerRule('container-image-tag', images),
  containerRule('pod-probes', probes),
  containerRule('one-probe-handler', oneHandler),
  containerRule('sensitiveContainerEnvVar', literalSecrets),
];

const HOST_NAMESPACES = ['hostNetwork', 'hostPID', 'hostIPC'];

function podSecurity({ spec }: PodTemplate): readonly string[] {
  const context = at(spec, 'securityContext');
  const user = at(context, 'runAsUser');
  return [
    ...unless(at(context, 'runAsNonRoot') === true, 'it may run as root'),
    ...unless(typeof user === 'number' && user > 0, 'its user is not a number above 0'),
    ...unless(textAt(context, 'seccompProfile', 'type') === 'RuntimeDefault', 'it has no seccomp profile'),
    ...HOST_NAMESPACES.flatMap((name) => unless(at(spec, name) !== true, `it has ${name}`)),
  ];
}

function containerSecurity(container: unknown): readonly string[] {
  const context = at(container, 'securityContext');
  const ports = itemsAt(container, 'ports');
  return [
    ...unless(at(context, 'allowPrivilegeEscalation') === false, 'it may gain privileges'),
    ...unless(at(context, 'privileged') !== true, 'it is privileged'),
    ...unless(itemsAt(context, 'capabilities', 'drop').includes('ALL'), 'it keeps capabilities'),
    ...unless(itemsAt(context, 'capabilities', 'add').length === 0, 'it adds capabilities'),
    ...unless(at(context, 'runAsUser') !== 0 && at(context, 'runAsNonRoot') !== false, 'it runs as root after all'),
    ...unless(
      ports.every((port) => at(port, 'hostPort') === undefined),
      'it takes a port of the host',
    ),
  ];
}

const VOLUME_KINDS = ['configMap', 'secret', 'emptyDir'];

function boundedVolumes({ spec }: PodTemplate): readonly string[] {
  return itemsAt(spec, 'volumes').flatMap((volume) => {
    const name = textAt(volume, 'name');
    const kinds = membersAt(volume).filter(([key]) => key !== 'name');
    const isBounded = at(volume, 'emptyDir') === undefined || quantity(at(volume, 'emptyDir', 'sizeLimit')) > 0;
    return [
      ...unless(
        kinds.length === 1 && kinds.every(([kind]) => VOLUME_KINDS.includes(kind)),
        `${name} is of no kind that is allowed`,
      ),
      ...unless(isBounded, `${name} has no limit`),
    ];
  });
}

const MOST_MEMORY = 4 * 2 ** 30;

function resources(container: unknown): readonly string[] {
  const of = (kind: string, what: string): number => quantity(at(container, 'resources', kind, what));
  const memory = of('limits', 'memory');
  return [
    ...unless(of('requests', 'cpu') > 0 && of('requests', 'cpu') <= 4, 'its CPU request is missing or beyond reason'),
    ...unless(memory > 0 && memory <= MOST_MEMORY, 'its memory limit is missing or beyond reason'),
    ...unless(
      of('requests', 'memory') > 0 && of('requests', 'memory') <= memory,
      'it requests no memory, or more than its limit',
    ),
    ...unless(
      of('requests', 'ephemeral-storage') <= of('limits', 'ephemeral-storage'),
      'its ephemeral storage has no bounds',
    ),
  ];
}

function images(container: unknown): readonly string[] {
  const image = textAt(container, 'image');
  return unless(
    /:v?\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?$/.test(image),
    `its image is not of one version: ${image}`,
  );
}

function probes(container: unknown): readonly string[] {
  const actions = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => at(container, probe));
  const [startup, liveness, readiness] = actions.map((probe) =>
    JSON.stringify(at(probe, 'httpGet') ?? at(probe, 'exec') ?? at(probe, 'tcpSocket')),
  );
  const slowest = actions.some((probe) => Number(at(probe, 'timeoutSeconds')) > Number(at(probe, 'periodSeconds')) + 1);
  return [
    ...unless(
      startup !== undefined && liveness !== undefined && readiness !== undefined,
      'it lacks one of the three probes',
    ),
    ...unless(liveness !== readiness, 'it is restarted where it is only not ready'),
    ...unless(!slowest, 'a probe takes longer than its period'),
  ];
}

const HANDLERS = ['httpGet', 'exec', 'tcpSocket', 'grpc', 'sleep'];

function oneHandler(container: unknown): readonly string[] {
  const places = [
    ['startupProbe'],
    ['livenessProbe'],
    ['readinessProbe'],
    ['lifecycle', 'preStop'],
    ['lifecycle', 'postStart'],
  ];
  return places.flatMap((place) => {
    const handler = at(container, ...place);
    const found = HANDLERS.filter((name) => at(handler, name) !== undefined);
    return unless(
      handler === undefined || found.length === 1,
      `${place.join('.')} has ${String(found.length)} handlers`,
    );
  });
}

const SENSITIVE = /PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIAL|API_?KEY|CALLER_KEYS/i;

function literalSecrets(container: unknown): readonly string[] {
  return itemsAt(container, 'env').flatMap((variable) => {
    const name = textAt(variable, 'name');
    const isPlain = SENSITIVE.test(name) && !name.endsWith('_FILE') && textAt(variable, 'value') !== '';
    return unless(!isPlain, `${name} stands there in plain`);
  });
}
