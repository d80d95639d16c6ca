import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';

/** What podman's `kube play` takes of a cluster's objects. */
const PLAYED = ['ConfigMap', 'Deployment'];

/**
 * The pod of the dev overlay's Deployment for podman, beside a Redis of this machine: what the manifest says of user, root, rights,
 * volumes and environment stays; what a node without a cluster cannot give goes.
 *
 * @param {string} file the rendered overlay
 * @param {{ image: string, environment: Record<string, string>, secrets: Record<string, string> }} given in place of the overlay's
 * @returns {string} YAML
 */
export function podmanPod(file, { image, environment, secrets }) {
  const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
  const played = objects.filter(
    ({ kind, metadata }) => PLAYED.includes(kind) && metadata.name.startsWith('coordinator'),
  );
  for (const object of played) delete object.metadata.namespace;
  const settings = played.find(({ metadata }) => metadata.name.startsWith('coordinator-environment'));
  Object.assign(settings.data, environment);
  const { spec } = played.find(({ kind }) => kind === 'Deployment');
  adapt(spec, image);
  // Podman 4.3 writes the files of a Secret as base64: the same files, by a ConfigMap.
  const secret = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'coordinator-secrets' }, data: secrets };
  return [secret, ...played].map((object) => stringify(object)).join('---\n');
}

function adapt(deployment, image) {
  const pod = deployment.template.spec;
  const [container] = pod.containers;
  // Podman plays one replica, and has no scheduler.
  deployment.replicas = 1;
  delete pod.topologySpreadConstraints;
  delete pod.affinity;
  delete pod.serviceAccountName;
  container.image = image;
  // It is ended once, on purpose.
  pod.restartPolicy = 'Never';
  const secrets = pod.volumes.find(({ secret }) => secret !== undefined);
  secrets.configMap = { name: secrets.secret.secretName };
  delete secrets.secret;
  // What is the default here too; podman breaks down where it is not said.
  for (const { configMap } of pod.volumes) Object.assign(configMap ?? {}, { optional: false });
  // No cgroups are to be had where this is proven; the host's network takes no ports, and the proof asks the probes' routes itself.
  for (const member of ['resources', 'ports', 'startupProbe', 'livenessProbe', 'readinessProbe'])
    delete container[member];
}
