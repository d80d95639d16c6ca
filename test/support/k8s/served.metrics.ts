import type { Registry } from 'prom-client';
import { createApplication } from '../../../src/application.js';
import { loadSettings, readEnvironment } from '../../../src/config/index.js';
import { createLogger, METRICS_REGISTRY } from '../../../src/observability/index.js';
import { seriesOn, type Served } from './query.rules.js';

const FILE = {
  providers: [{ name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyVariable: 'LOCAL_API_KEY' }],
  models: [
    { name: 'any', contextWindow: 1_000, maxOutputTokens: 100, deployments: [{ provider: 'local', model: 'any' }] },
  ],
  tiers: { free: ['any'], pro: ['any'], enterprise: ['any'] },
};

/** What a whole server serves, with all of its own metrics. */
export interface ServedMetrics extends Served {
  /** The metrics that are not Node's or the process'. */
  readonly own: readonly string[];
  close(): Promise<void>;
}

/** Starts a server with nobody behind it, and asks for /metrics. */
export async function serveMetrics(): Promise<ServedMetrics> {
  const { module } = await readEnvironment();
  const logger = createLogger({ level: 'silent', secrets: [] }, { write: () => undefined });
  const settings = loadSettings({
    environment: { PORT: '0', LOCAL_API_KEY: 'made-up-key' },
    readFile: () => JSON.stringify(FILE),
    now: Date.now(),
  });
  const application = await createApplication({ settings, environment: module, logger, version: 'test' });
  const page = await (await fetch(`${await application.listen()}/metrics`)).text();
  const registry = application.nest.get<Registry>(METRICS_REGISTRY, { strict: false });
  return {
    series: seriesOn(page),
    own: registry.getMetricsAsArray().map(({ name }) => name),
    labelsOf: (name) => {
      const labels: unknown = Reflect.get(registry.getSingleMetric(name) ?? {}, 'labelNames');
      return Array.isArray(labels) ? labels.map(String) : [];
    },
    close: () => application.shutDown(),
  };
}
