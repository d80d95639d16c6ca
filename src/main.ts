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

try {
  await boot();
} catch (error) {
  // Before there is a logger, and for whoever sits at the terminal: the whole list, not a stack.
  process.stderr.write(
    `${error instanceof ConfigurationError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exit(1);
}
