import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { createApplication } from './application.js';
import { ConfigurationError, loadSettings, readEnvironment, secretsOf, type Settings } from './config/index.js';
import { onShutdownSignals } from './http/index.js';
import { createLogger } from './observability/index.js';
import { type Simulator, startSimulator } from './simulator/index.js';

async function boot(): Promise<void> {
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
  onShutdownSignals(async () => {
    logger.info('shutting down');
    await application.shutDown();
    await simulator?.close();
    logger.info('stopped');
  });
  logger.info({ url: await application.listen(), upstream: simulator?.url ?? 'providers' }, 'listening');
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

try {
  await boot();
} catch (error) {
  process.stderr.write(`${faultOf(error)}\n`);
  process.exit(1);
}
