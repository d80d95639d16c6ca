import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Registry } from 'prom-client';
import { type Application, createApplication } from '../../src/application.js';
import { loadSettings, readEnvironment } from '../../src/config/index.js';
import { createLogger, METRICS_REGISTRY } from '../../src/observability/index.js';
import { alertFaults, alertsIn, type Served, seriesOn } from '../support/k8s/alert.rules.js';
import { Manifests, renderedText } from '../support/k8s/manifests.js';
import { plant } from '../support/k8s/planted.faults.js';
import { quantity } from '../support/k8s/quantities.js';
import { at, textAt } from '../support/k8s/tree.js';

const manifests = new Manifests(renderedText('external-monitored'));
const alerts = alertsIn(manifests);

const FAULTS: readonly (readonly [fault: string, text: string, instead: string])[] = [
  [
    'CoordinatorCallsNotBooked: coordinator_ledger_lots_total',
    'coordinator_ledger_lost_total',
    'coordinator_ledger_lots_total',
  ],
  ['CoordinatorErrors: code', 'coordinator_http_requests_total{status=', 'coordinator_http_requests_total{code='],
  ['CoordinatorDeploymentOut: provider', 'max by (deployment)', 'max by (provider)'],
  ['CoordinatorKeyRefused: name', '$labels.key', '$labels.name'],
];

const FILE = {
  providers: [{ name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyVariable: 'LOCAL_API_KEY' }],
  models: [
    { name: 'any', contextWindow: 1_000, maxOutputTokens: 100, deployments: [{ provider: 'local', model: 'any' }] },
  ],
  tiers: { free: ['any'], pro: ['any'], enterprise: ['any'] },
};

describe('the alert rules', () => {
  let application: Application;
  let served: Served;

  beforeAll(async () => {
    const { module } = await readEnvironment();
    const logger = createLogger({ level: 'silent', secrets: [] }, { write: () => undefined });
    const settings = loadSettings({
      environment: { PORT: '0', LOCAL_API_KEY: 'made-up-key' },
      readFile: () => JSON.stringify(FILE),
      now: Date.now(),
    });
    application = await createApplication({ settings, environment: module, logger, version: 'test' });
    const page = await (await fetch(`${await application.listen()}/metrics`)).text();
    const registry = application.nest.get<Registry>(METRICS_REGISTRY, { strict: false });
    served = {
      series: seriesOn(page),
      labelsOf: (name) => {
        const own: unknown = Reflect.get(registry.getSingleMetric(name) ?? {}, 'labelNames');
        return Array.isArray(own) ? own.map(String) : [];
      },
    };
  });
  afterAll(() => application.shutDown());

  it('are there, each with what the one who is woken needs', () => {
    const told = alerts.map((alert) => [textAt(alert, 'expr'), textAt(alert, 'annotations', 'runbook_url')]);
    expect(told.length).toBeGreaterThan(10);
    expect(told.flat().filter((text) => text === '')).toEqual([]);
    expect(new Set(alerts.map((alert) => textAt(alert, 'alert'))).size).toBe(alerts.length);
  });

  it('name only metrics that /metrics serves, by labels that these have', () => {
    expect(alerts.flatMap((alert) => alertFaults(alert, served))).toEqual([]);
  });

  it.each(FAULTS)('would be found to have this fault: %s', (fault, text, instead) => {
    const planted = alertsIn(new Manifests(plant(['alerts', text, instead])));
    expect(planted.flatMap((alert) => alertFaults(alert, served))).toContain(fault);
  });

  it('are about the job that the monitor scrapes, and the memory that a pod has', () => {
    const jobs = alerts.flatMap((alert) => [...textAt(alert, 'expr').matchAll(/job="([^"]*)"/g)].map(([, job]) => job));
    expect(new Set(jobs)).toEqual(new Set([manifests.named('Service', 'coordinator-metrics')?.name]));
    const memory = alerts.find((alert) => textAt(alert, 'alert') === 'CoordinatorMemoryNearLimit');
    const limit = quantity(at(manifests.pods[0]?.spec, 'containers', 0, 'resources', 'limits', 'memory'));
    expect(textAt(memory, 'expr')).toContain(` * ${String(limit)}`);
  });
});
