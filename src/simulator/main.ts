import { readFileSync } from 'node:fs';
import { loadSettings, readEnvironment } from '../config/index.js';
import { parseCliOptions, USAGE, type CliOptions } from './cli.options.js';
import { startSimulator } from './simulator.server.js';
import type { SimulatedModel } from './simulator.options.js';

async function run(options: CliOptions): Promise<void> {
  const { port, speed, seed, apiKeys, limits, configFile } = options;
  const models = await readModels(configFile);
  const simulator = await startSimulator({ models, port, speed, seed, apiKeys, limits });
  process.stdout.write(`simulator listens on ${simulator.url}\n`);
  const stop = (): void => {
    void simulator.close();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

/** The catalogue. Of the environment only CONFIG_FILE counts: what a deployment needs is no concern of the simulator's. */
async function readModels(configFile: string | undefined): Promise<readonly SimulatedModel[]> {
  const path = configFile ?? (await readEnvironment()).environment['CONFIG_FILE'];
  const { models } = loadSettings({
    environment: { UPSTREAM: 'simulator', ...(path !== undefined && { CONFIG_FILE: path }) },
    readFile: (file) => readFileSync(file, 'utf8'),
    now: Date.now(),
  });
  return models.map((model) => ({ ...model, ...model.simulated }));
}

try {
  const options = parseCliOptions(process.argv.slice(2));
  if (options.wantsHelp) {
    process.stdout.write(USAGE);
  } else {
    await run(options);
  }
} catch (error) {
  // For whoever sits at the terminal: the fault, not a stack.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
