import { readFileSync } from 'node:fs';
import { createApplication } from '../../src/application.js';
import { loadSettings, readEnvironment } from '../../src/config/index.js';
import { createLogger } from '../../src/observability/index.js';
import { TokenCounters } from '../../src/tokens/index.js';
import { countPatiently } from './patient-counter.js';

const CONFIG_FILE = 'test.yaml';

export interface ConfiguredOptions {
  /** coordinator.yaml, as an object. */
  readonly file: object;
  /** The providers' keys by their variables; they are secrets to the log. */
  readonly keys: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Coordinator {
  readonly url: string;
  /** All log lines so far. */
  logs(): string;
  close(): Promise<void>;
}

/** This service in the test's own process, on a free loopback port. */
export async function startConfigured({ file, keys, environment }: ConfiguredOptions): Promise<Coordinator> {
  const variables = {
    PORT: '0',
    HOST: '127.0.0.1',
    SHUTDOWN_GRACE_MS: '1000',
    CONFIG_FILE,
    LOG_LEVEL: 'debug',
    ...keys,
    ...environment,
  };
  const settings = loadSettings({
    environment: variables,
    readFile: (path) => (path === CONFIG_FILE ? JSON.stringify(file) : readFileSync(path, 'utf8')),
    now: Date.now(),
  });
  const lines: string[] = [];
  const logger = createLogger(
    { level: settings.server.logLevel, secrets: Object.values(keys) },
    { write: (line) => void lines.push(line) },
  );
  const { module } = await readEnvironment();
  const application = await createApplication({ settings, environment: module, logger, version: 'test' });
  countPatiently(application.nest.get(TokenCounters, { strict: false }));
  const url = await application.listen();
  return { url, logs: () => lines.join(''), close: () => application.shutDown() };
}
