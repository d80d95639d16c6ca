import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { createApplication } from './application.js';
import { ConfigurationError, loadSettings, readEnvironment, secretsOf, type Settings } from './config/index.js';
import { createLogger } from './observability/index.js';
import { type Simulator, startSimulator } from './simulator/index.js';

/** A server that is up. */
export interface Running {
  /** Drains and closes; rejects where that fails. */
  shutDown(): Promise<void>;
}

/**
 * Reads the configuration, puts the server together and listens. What keeps it from that is told on standard error, and ends the
 * process with 1.
 *
 * @param unwanted aborts where the server is told to go before it has come: then it does not listen
 */
export async function boot(unwanted: AbortSignal): Promise<Running> {
  try {
    return await start(unwanted);
  } catch (error) {
    process.stderr.write(`${faultOf(error)}\n`);
    return process.exit(1);
  }
}

async function start(unwanted: AbortSignal): Promise<Running> {
  const { environment, module } = await readEnvironment();
  const settings = loadSettings({ environment, readFile: (path) => readFileSync(path, 'utf8'), now: Date.now() });
  const logger = createLogger({ level: settings.server.logLevel, secrets: secretsOf(settings) });
  for (const notice of settings.notices) logger.warn(notice);
  const simulator = settings.upstream === 'simulator' ? await simulate(settings) : undefined;
  const application = await createApplication({
    settings,
    environment: module,
    logger,
    version: readVersion(),
    ...(simulator && { simulatorUrl: simulator.url }),
  });
  if (!unwanted.aborted) {
    const url = await application.listen();
    logger.info({ url, upstream: simulator?.url ?? 'providers', process: application.process }, 'listening');
  }
  return {
    async shutDown() {
      logger.info('shutting down');
      await application.shutDown();
      await simulator?.close();
      logger.info('stopped');
    },
  };
}

function simulate({ models }: Settings): Promise<Simulator> {
  return startSimulator({ models: models.map((model) => ({ ...model, ...model.simulated })) });
}

function readVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof file === 'object' && file !== null && 'version' in file ? String(file.version) : 'unknown';
}

/** For whoever sits at the terminal, where there is no logger yet: what to change, and a stack only where that is not known. */
function faultOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const isAddress = 'syscall' in error && error.syscall === 'listen';
  return isAddress ? `${error.message}; HOST, PORT and METRICS_PORT say where to listen` : String(error.stack);
}
