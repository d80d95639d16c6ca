import { valuesOf } from './label.values.js';
import { type Matcher, parsePromql } from './promql.js';

/** What a process serves: its series, and the labels of each metric. */
export interface Served {
  readonly series: ReadonlySet<string>;
  readonly labelsOf: (metric: string) => readonly string[];
}

/** Prometheus' own metric, about the scrape itself. */
const OF_PROMETHEUS = 'up';
/** What a scrape, or a histogram, puts on samples. */
const ON_EVERY_SAMPLE = ['job', 'pod', 'namespace', 'instance', 'le'];
/** Values of the configuration, of the cluster, and templates of routes: no list of them stands in the code. */
const NAMES = [...ON_EVERY_SAMPLE, 'model', 'deployment', 'route'];

/**
 * What is wrong with a query: no PromQL, series that nobody serves, labels that these do not have, values that such a label never has,
 * and shown labels that the result has not.
 *
 * @param shown - the labels that a legend or a summary shows
 */
export function queryFaults(
  expression: string,
  shown: readonly string[],
  { series, labelsOf }: Served,
): readonly string[] {
  const { errors, selectors, kept, joined } = parsePromql(expression);
  const known = [...ON_EVERY_SAMPLE, ...selectors.flatMap(({ metric }) => labelsOf(baseOf(metric)))];
  return [
    ...errors,
    ...selectors.map(({ metric }) => metric).filter((name) => name !== OF_PROMETHEUS && !series.has(name)),
    ...selectors.flatMap(({ metric, matchers }) =>
      matchers.flatMap((matcher) => matcherFaults(matcher, baseOf(metric), labelsOf)),
    ),
    ...[...(kept ?? []), ...joined].filter((label) => !known.includes(label)),
    ...shown.filter((label) => !(kept ?? known).includes(label)),
  ];
}

function matcherFaults({ label, value }: Matcher, metric: string, labelsOf: Served['labelsOf']): readonly string[] {
  if (![...ON_EVERY_SAMPLE, ...labelsOf(metric)].includes(label)) return [label];
  if (NAMES.includes(label)) return [];
  const values = valuesOf(metric, label);
  return value.split('|').flatMap((each) => (values?.includes(each) === true ? [] : [`${label}="${each}"`]));
}

/** The metric of one of a histogram's series. */
export function baseOf(series: string): string {
  return series.replace(/_(bucket|count|sum)$/, '');
}

/** The metrics that an expression names. */
export function metricsIn(expression: string): readonly string[] {
  return parsePromql(expression).selectors.map(({ metric }) => baseOf(metric));
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
