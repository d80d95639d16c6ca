import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ConfigurationError,
  ENVIRONMENT_TABLE,
  loadSettings,
  SHIPPED_CONFIG_FILE,
  type Settings,
} from '../../../src/config/index.js';
import { HealthController } from '../../../src/health/health.controller.js';
import { DEFAULT_FLUSH_MS } from '../../../src/http/index.js';
import { ROOT } from '../planted-project.js';
import { type Manifests, type Rule, unless } from './manifests.js';
import { quantity } from './quantities.js';
import { at, itemsAt, membersAt, numberAt, textAt } from './tree.js';

/** What the manifests tell the server is what it understands, and what they expect of it is what it does. */
export const SERVER_RULES: readonly Rule[] = [
  { id: 'known-variables', find: unknownVariables },
  { id: 'boots', find: (manifests) => bootOf(manifests).faults },
  { id: 'ports', find: ports },
  { id: 'probe-routes', find: probeRoutes },
  { id: 'grace', find: grace },
  { id: 'heap', find: heap },
  { id: 'expected-pods', find: expectedPods },
  { id: 'shipped-file', find: shippedFile },
];

const SECRETS: Readonly<Record<string, string>> = {
  'api-key': 'made-up-provider-key',
  'caller-keys': 'app:enterprise:0123456789abcdef0123456789abcdef',
  'redis-password': 'made-up-password',
};
/** What the image sets itself. */
const IMAGE = { NODE_ENV: 'production', HOST: '0.0.0.0' };
/** Node's own. */
const NOT_OURS = ['NODE_OPTIONS'];

function unknownVariables({ environment }: Manifests): readonly string[] {
  const known = ENVIRONMENT_TABLE.flatMap(({ name, isSecret }) => (isSecret ? [`${name}_FILE`] : [name]));
  return Object.keys(environment).flatMap((name) =>
    unless([...known, ...NOT_OURS].includes(name), `${name} is no variable of the server's`),
  );
}

/** The settings that a pod would boot with, its Secret filled. */
function bootOf(manifests: Manifests): { readonly settings?: Settings; readonly faults: readonly string[] } {
  try {
    const settings = loadSettings({
      environment: { ...IMAGE, ...manifests.environment },
      readFile: (path) => mounted(manifests, path),
      now: Date.parse('2026-06-01'),
    });
    const { notices } = settings;
    return {
      settings,
      faults: notices.filter((notice) => !/^UPSTREAM=simulator|^no provider with a key|will be shut down/.test(notice)),
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { faults: [error.message] };
  }
}

/** A file of the server's container, as its volumes make it. */
function mounted(manifests: Manifests, path: string): string {
  const spec = at(manifests.server.tree, 'spec', 'template', 'spec');
  const mount = itemsAt(spec, 'containers', 0, 'volumeMounts').find((each) =>
    path.startsWith(`${textAt(each, 'mountPath')}/`),
  );
  const volume = itemsAt(spec, 'volumes').find((each) => textAt(each, 'name') === textAt(mount, 'name'));
  const file = path.slice(textAt(mount, 'mountPath').length + 1);
  const config = manifests.named('ConfigMap', textAt(volume, 'configMap', 'name'));
  const text = at(volume, 'secret') === undefined ? textAt(config?.tree, 'data', file) : (SECRETS[file] ?? '');
  if (text !== '') return text;
  throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
}

function serverContainer({ server }: Manifests): unknown {
  return at(server.tree, 'spec', 'template', 'spec', 'containers', 0);
}

function ports(manifests: Manifests): readonly string[] {
  const { server } = bootOf(manifests).settings ?? {};
  const declared = itemsAt(serverContainer(manifests), 'ports').map((port) => [
    at(port, 'name'),
    at(port, 'containerPort'),
  ]);
  const actual = [
    ['http', server?.port],
    ['metrics', server?.metricsPort],
  ];
  return unless(
    JSON.stringify(declared) === JSON.stringify(actual),
    `it declares ${JSON.stringify(declared)}, it listens on ${JSON.stringify(actual)}`,
  );
}

function probeRoutes(manifests: Manifests): readonly string[] {
  const expected = {
    startupProbe: routeOf('health'),
    livenessProbe: routeOf('health'),
    readinessProbe: routeOf('ready'),
  };
  return Object.entries(expected).flatMap(([probe, path]) =>
    unless(textAt(serverContainer(manifests), probe, 'httpGet', 'path') === path, `${probe} does not ask ${path}`),
  );
}

function routeOf(method: 'health' | 'ready'): string {
  const handler: unknown = Reflect.get(HealthController.prototype, method);
  return typeof handler === 'function' ? `/${String(Reflect.getMetadata('path', handler))}` : '';
}

/** What closing takes after the last request: connections, the last figures. */
const CLOSING_MS = 5_000;

function grace(manifests: Manifests): readonly string[] {
  const { server } = bootOf(manifests).settings ?? {};
  if (server === undefined) return [];
  const { drainDelayMs, shutdownGraceMs, requestDeadlineMs } = server;
  const preStopMs = numberAt(serverContainer(manifests), 'lifecycle', 'preStop', 'sleep', 'seconds') * 1_000;
  const graceMs = numberAt(manifests.server.tree, 'spec', 'template', 'spec', 'terminationGracePeriodSeconds') * 1_000;
  return [
    ...unless(drainDelayMs >= 3_000, 'load balancers have no time to notice'),
    ...unless(shutdownGraceMs >= drainDelayMs + requestDeadlineMs, 'a rollout cuts the longest streams'),
    ...unless(
      graceMs > preStopMs + shutdownGraceMs + DEFAULT_FLUSH_MS + CLOSING_MS,
      'it is killed before it has drained',
    ),
  ];
}

function heap(manifests: Manifests): readonly string[] {
  const [, megabytes = ''] = /--max-old-space-size=(\d+)/.exec(manifests.environment['NODE_OPTIONS'] ?? '') ?? [];
  const share =
    (Number(megabytes) * 2 ** 20) / quantity(at(serverContainer(manifests), 'resources', 'limits', 'memory'));
  return unless(share >= 0.5 && share <= 0.75, `the heap is ${String(Math.round(share * 100))} % of the memory limit`);
}

function expectedPods(manifests: Manifests): readonly string[] {
  const [autoscaler] = manifests.of('HorizontalPodAutoscaler');
  const most = at(autoscaler?.tree, 'spec', 'maxReplicas') ?? at(manifests.server.tree, 'spec', 'replicas');
  const { expectedPods: expected } = bootOf(manifests).settings ?? {};
  return unless(expected === most, `EXPECTED_PODS is ${String(expected)}, there are up to ${String(most)}`);
}

function shippedFile(manifests: Manifests): readonly string[] {
  const shipped = readFileSync(SHIPPED_CONFIG_FILE, 'utf8');
  const texts = manifests
    .of('ConfigMap')
    .flatMap(({ tree }) => membersAt(tree, 'data').filter(([name]) => name === 'coordinator.yaml'));
  return unless(
    texts.length === 1 && texts[0]?.[1] === shipped,
    'its coordinator.yaml is not the shipped one: copy it to k8s/base/',
  );
}

/** The version that the image's tag must be. */
export function packageVersion(): string {
  const file: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return textAt(file, 'version');
}
