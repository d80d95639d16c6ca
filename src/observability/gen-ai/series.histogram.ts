import { Histogram, type HistogramConfiguration } from 'prom-client';

/** One combination of labels. */
export interface Series {
  /** Anything that is no finite number is left out. */
  observe(value: number): void;
}

/**
 * prom-client's histogram for what every call observes several times: who keeps its series pays for an addition, where `observe()`
 * checks, sorts and joins the labels anew each time. What is shown is the same.
 */
export class SeriesHistogram<T extends string> extends Histogram<T> {
  readonly #all: KeptSeries<T>[] = [];

  constructor(private readonly config: HistogramConfiguration<T> & { readonly buckets: number[] }) {
    super(config);
  }

  /** To be asked for once and kept. It is shown once something is observed. */
  series(labels: Partial<Record<T, string>>): Series {
    const series = new KeptSeries<T>(labels, this.config.buckets);
    this.#all.push(series);
    return series;
  }

  /** What prom-client prints from, and what its own `get()` reads. */
  getForPromString() {
    const { name, help } = this.config;
    const values = this.#all.filter(({ count }) => count > 0).flatMap((series) => series.values(name));
    return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
  }
}

class KeptSeries<T extends string> implements Series {
  count = 0;
  #sum = 0;
  readonly #counts: number[];

  constructor(
    private readonly labels: Partial<Record<T, string>>,
    private readonly buckets: readonly number[],
  ) {
    this.#counts = buckets.map(() => 0);
  }

  observe(value: number): void {
    if (!Number.isFinite(value)) return;
    this.count += 1;
    this.#sum += value;
    const at = this.buckets.findIndex((bound) => value <= bound);
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  values(name: string) {
    let upTo = 0;
    const part = (suffix: string, value: number, own: { readonly le?: number | string } = {}) => ({
      metricName: `${name}_${suffix}`,
      value,
      labels: { ...own },
      sharedLabels: this.labels,
    });
    const buckets = this.buckets.map((le, at) => {
      upTo += this.#counts[at] ?? 0;
      return part('bucket', upTo, { le });
    });
    return [...buckets, part('bucket', this.count, { le: '+Inf' }), part('sum', this.#sum), part('count', this.count)];
  }
}
