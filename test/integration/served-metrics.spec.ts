import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alertFaults, alertsIn } from '../support/k8s/alert.rules.js';
import { dashboardFaults, dashboardsIn, panelsOf, shownMetrics } from '../support/k8s/dashboard.rules.js';
import { Manifests, renderedText } from '../support/k8s/manifests.js';
import { plant } from '../support/k8s/planted.faults.js';
import { quantity } from '../support/k8s/quantities.js';
import { serveMetrics, type ServedMetrics } from '../support/k8s/served.metrics.js';
import { at, textAt } from '../support/k8s/tree.js';
import { ROOT } from '../support/planted-project.js';

const manifests = new Manifests(renderedText('external-monitored'));

let served: ServedMetrics;

beforeAll(async () => {
  served = await serveMetrics();
});
afterAll(() => served.close());

type Fault = readonly [fault: string, text: string, instead: string];

describe('the alert rules', () => {
  const alerts = alertsIn(manifests);
  const FAULTS: readonly Fault[] = [
    [
      'CoordinatorCallsNotBooked: coordinator_ledger_lots_total',
      'coordinator_ledger_lost_total[15m]',
      'coordinator_ledger_lots_total[15m]',
    ],
    ['CoordinatorErrors: code', 'coordinator_http_requests_total{status=', 'coordinator_http_requests_total{code='],
    [
      'CoordinatorErrors: status="500"',
      'coordinator_http_requests_total{status="5xx"',
      'coordinator_http_requests_total{status="500"',
    ],
    [
      'CoordinatorDeploymentOut: provider',
      'max by (deployment) (coordinator_deployment_open)',
      'max by (provider) (coordinator_deployment_open)',
    ],
    ['CoordinatorKeyRefused: name', '$labels.key', '$labels.name'],
    ['CoordinatorMemoryNearLimit: no PromQL from "* 1073741824"', '> 0.85 * 1073741824', '> 0.85 ** 1073741824'],
  ];

  it('are there, each with what the one who is woken needs', () => {
    const told = alerts.map((alert) => [textAt(alert, 'expr'), textAt(alert, 'annotations', 'runbook_url')]);
    expect(told.length).toBeGreaterThan(10);
    expect(told.flat().filter((text) => text === '')).toEqual([]);
    expect(new Set(alerts.map((alert) => textAt(alert, 'alert'))).size).toBe(alerts.length);
  });

  it('name only metrics that /metrics serves, by labels and values that these have', () => {
    expect(alerts.flatMap((alert) => alertFaults(alert, served))).toEqual([]);
  });

  it.each(FAULTS)('would be found to have this fault: %s', (fault, text, instead) => {
    const planted = alertsIn(new Manifests(plant(['alerts', text, instead])));
    expect(planted.flatMap((alert) => alertFaults(alert, served))).toContain(fault);
  });

  it('are all explained where their runbook is', () => {
    const guide = readFileSync(join(ROOT, 'docs/deployment.md'), 'utf8');
    const names = alerts.map((alert) => textAt(alert, 'alert').replace('Coordinator', ''));
    expect(names.filter((name) => !new RegExp(`^\\| .*\`(Coordinator|…)${name}\``, 'm').test(guide))).toEqual([]);
  });

  it('are about the job that the monitor scrapes, and the memory that a pod has', () => {
    const jobs = alerts.flatMap((alert) => [...textAt(alert, 'expr').matchAll(/job="([^"]*)"/g)].map(([, job]) => job));
    expect(new Set(jobs)).toEqual(new Set([manifests.named('Service', 'coordinator-metrics')?.name]));
    const memory = alerts.find((alert) => textAt(alert, 'alert') === 'CoordinatorMemoryNearLimit');
    const limit = quantity(at(manifests.pods[0]?.spec, 'containers', 0, 'resources', 'limits', 'memory'));
    expect(textAt(memory, 'expr')).toContain(` * ${String(limit)}`);
  });
});

describe('the dashboard', () => {
  const dashboards = dashboardsIn(manifests);
  const FAULTS: readonly Fault[] = [
    ['Booked: coordinator_ledger_boked_total', 'coordinator_ledger_booked_total{', 'coordinator_ledger_boked_total{'],
    ['Calls by provider: vendor', 'sum by (provider) (rate(coordinator_comp', 'sum by (vendor) (rate(coordinator_comp'],
    ['Calls by provider: code', '"legendFormat":"{{provider}}"', '"legendFormat":"{{code}}"'],
    ['Upstream 429s: code="429"', 'code=\\"rate_limit_exceeded\\"', 'code=\\"429\\"'],
    [
      'Held: there is no variable space',
      'coordinator_lock_held{namespace=~\\"$namespace',
      'coordinator_lock_held{namespace=~\\"$space',
    ],
    [
      'Draining: no PromQL from ""',
      'sum(coordinator_draining{namespace=~\\"$namespace\\",pod=~\\"$pod\\"})',
      'sum(coordinator_draining{namespace=~\\"$namespace\\",pod=~\\"$pod\\"}',
    ],
    ['variable pod: coordinator_drain', 'label_values(coordinator_draining{', 'label_values(coordinator_drain{'],
    ['Cost: there is no unit dollars', '"unit":"currencyUSD"', '"unit":"dollars"'],
    ['Calls: there is no panel of type graph', '"type":"stat","title":"Calls"', '"type":"graph","title":"Calls"'],
    [
      'Calls: it asks another datasource than the chosen one',
      '"title":"Calls","description":"Completions that end, in a second.","datasource":{"type":"prometheus","uid":"${datasource}"',
      '"title":"Calls","description":"Completions that end, in a second.","datasource":{"type":"prometheus","uid":"prometheus"',
    ],
    ['Pods covers Draining', '"gridPos":{"x":3,"y":1,"w":3,"h":4}', '"gridPos":{"x":2,"y":1,"w":3,"h":4}'],
    ['panels have the same id', '"id":3,', '"id":2,'],
    ['it is older than Grafana 10', '"schemaVersion": 38', '"schemaVersion": 30'],
  ];

  it('is one, in the overlay that is watched', () => {
    expect(dashboards).toHaveLength(1);
    expect(panelsOf(dashboards[0]).length).toBeGreaterThan(40);
  });

  it('has no faults', () => {
    expect(dashboards.flatMap((dashboard) => dashboardFaults(dashboard, served))).toEqual([]);
  });

  it.each(FAULTS)('would be found to have this fault: %s', (fault, text, instead) => {
    const planted = dashboardsIn(new Manifests(plant(['dashboard', text, instead])));
    expect(planted.flatMap((dashboard) => dashboardFaults(dashboard, served))).toContain(fault);
  });

  it('shows every metric of ours', () => {
    const shown = new Set(dashboards.flatMap((dashboard) => [...shownMetrics(dashboard)]));
    expect(served.own.length).toBeGreaterThan(40);
    expect(served.own.filter((name) => !shown.has(name))).toEqual([]);
  });

  it('asks for the job of the alerts', () => {
    const jobs = [...JSON.stringify(dashboards).matchAll(/job=\\"([^"\\]*)/g)].map(([, job]) => job);
    expect(new Set(jobs)).toEqual(new Set(['coordinator-metrics']));
  });

  it('is made of its panels, and is what the manifests have', () => {
    const check = spawnSync(process.execPath, [join(ROOT, 'scripts/render-dashboard.mjs'), '--check'], {
      encoding: 'utf8',
    });
    expect(check).toMatchObject({ status: 0, stderr: '' });
    const text = readFileSync(join(ROOT, 'k8s/components/dashboard/coordinator.json'), 'utf8');
    expect(dashboards).toEqual([JSON.parse(text)]);
  });
});

describe("the README's tables of metrics", () => {
  it('have every metric of ours, with its labels', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `((?:coordinator|gen_ai)_\w+)` *\|([^|]*)\|/gm)];
    const documented = rows.map(([, name = '', labels = '']) => [name, ...[...labels.matchAll(/\w+/g)].flat()]);
    expect(documented.sort()).toEqual(served.own.map((name) => [name, ...served.labelsOf(name)]).sort());
  });
});
