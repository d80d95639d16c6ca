import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { type InstrumentationScope, millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { conventionOf } from '../gen-ai/gen-ai.names.js';

type Scraped = MetricObjectWithValues<MetricValue<string>>;
type Value = Scraped['values'][number] & { readonly metricName?: string };

interface Span {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** What `/metrics` shows, for OTLP: read when it is sent, so that nothing is counted twice. */
export class RegistryProducer implements MetricProducer {
  readonly #startTime: HrTime;

  constructor(
    private readonly registries: readonly Registry[],
    private readonly scope: InstrumentationScope,
    private readonly now: () => number = Date.now,
  ) {
    this.#startTime = millisToHrTime(now());
  }

  async collect(): Promise<CollectionResult> {
    const span = { startTime: this.#startTime, endTime: millisToHrTime(this.now()) };
    const scraped = await Promise.all(this.registries.map((registry) => registry.getMetricsAsJSON()));
    const metrics = scraped.flat().flatMap((metric) => metricOf(metric, span) ?? []);
    return {
      resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: this.scope, metrics }] },
      errors: [],
    };
  }
}

/** prom-client has its types as words where its declarations have numbers. */
function metricOf(metric: Scraped, span: Span): MetricData | undefined {
  const { name, unit } = conventionOf(metric.name);
  const descriptor = { name, description: metric.help, unit, valueType: ValueType.DOUBLE };
  const cumulative = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  switch (String(metric.type)) {
    case 'counter':
      return {
        ...cumulative,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: metric.values.map((value) => pointOf(value, span)),
      };
    case 'gauge':
      return {
        ...cumulative,
        dataPointType: DataPointType.GAUGE,
        dataPoints: metric.values.map((value) => pointOf(value, span)),
      };
    case 'histogram':
      return { ...cumulative, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramsOf(metric, span) };
    default:
      return undefined;
  }
}

function pointOf({ labels, value }: Value, span: Span) {
  return { ...span, attributes: attributesOf(labels), value };
}

interface Series {
  readonly labels: Value['labels'];
  /** Ascending, the last one without a bound. */
  readonly boundaries: number[];
  /** Up to each boundary, all together. */
  readonly cumulative: number[];
  sum: number;
  count: number;
}

function histogramsOf({ name, values }: Scraped, span: Span) {
  const bySeries = new Map<string, Series>();
  for (const { labels, value, metricName } of values as readonly Value[]) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const series = bySeries.get(key) ?? { labels: own, boundaries: [], cumulative: [], sum: 0, count: 0 };
    bySeries.set(key, series);
    if (metricName === `${name}_sum`) series.sum = value;
    else if (metricName === `${name}_count`) series.count = value;
    else if (le !== undefined && le !== '+Inf') {
      series.boundaries.push(Number(le));
      series.cumulative.push(value);
    }
  }
  return [...bySeries.values()].map((series) => ({
    ...span,
    attributes: attributesOf(series.labels),
    value: valueOf(series),
  }));
}

function valueOf({ boundaries, cumulative, sum, count }: Series) {
  const counts = [...cumulative, count].map((upTo, at) => upTo - (at === 0 ? 0 : (cumulative[at - 1] ?? 0)));
  return { buckets: { boundaries, counts }, sum, count };
}

function attributesOf(labels: Value['labels']): Attributes {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]): [string, string | number][] =>
      value === undefined || value === '' ? [] : [[conventionOf(name).name, value]],
    ),
  );
}
