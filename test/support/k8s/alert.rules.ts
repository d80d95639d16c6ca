import type { Manifests } from './manifests.js';
import { itemsAt, textAt } from './tree.js';

/** Prometheus' own metric, about the scrape itself. */
const OF_PROMETHEUS = 'up';
/** What a scrape, or a histogram, puts on samples. */
const ON_EVERY_SAMPLE = ['job', 'pod', 'namespace', 'instance', 'le'];

export function alertsIn(manifests: Manifests): readonly unknown[] {
  return manifests
    .of('PrometheusRule')
    .flatMap(({ tree }) => itemsAt(tree, 'spec', 'groups'))
    .flatMap((group) => itemsAt(group, 'rules'));
}

/** What a process serves: its series, and the labels of each metric. */
export interface Served {
  readonly series: ReadonlySet<string>;
  readonly labelsOf: (metric: string) => readonly string[];
}

/** Series that an alert names and nobody serves, and labels that it matches, groups by or shows and no metric of it has. */
export function alertFaults(alert: unknown, { series, labelsOf }: Served): readonly string[] {
  const metrics = metricsIn(textAt(alert, 'expr'));
  const unserved = metrics.filter(({ name }) => name !== OF_PROMETHEUS && !series.has(name)).map(({ name }) => name);
  const known = [...ON_EVERY_SAMPLE, ...metrics.flatMap(({ name }) => labelsOf(baseOf(name)))];
  const matched = metrics.flatMap(({ name, labels }) =>
    labels.filter((label) => ![...ON_EVERY_SAMPLE, ...labelsOf(baseOf(name))].includes(label)),
  );
  const used = labelsIn(textAt(alert, 'expr') + textAt(alert, 'annotations', 'summary'));
  return [...unserved, ...matched, ...used.filter((label) => !known.includes(label))].map(
    (name) => `${textAt(alert, 'alert')}: ${name}`,
  );
}

function baseOf(series: string): string {
  return series.replace(/_(bucket|count|sum)$/, '');
}

/** The series of an expression, each with the labels that it is matched by. */
function metricsIn(expression: string): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expression.matchAll(/\b(up|(?:coordinator|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*=~?"/g)].map(([, label = '']) => label),
    }),
  );
}

function labelsIn(text: string): readonly string[] {
  const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(','));
  const shown = [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
  return [...grouped.map((label) => label.trim()), ...shown];
}

/** The series of a page in Prometheus' text format. */
export function seriesOn(page: string): ReadonlySet<string> {
  const types = [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
}
