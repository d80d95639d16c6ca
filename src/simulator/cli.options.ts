import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run simulator -- [options]

Plays coordinator.yaml's models as an OpenAI-compatible provider on 127.0.0.1.

  --port <n>     port; 0 takes a free one (default 9090)
  --speed <x>    divides the models' delays (default 1)
  --seed <n>     the same seed and request give the same reply (default 1)
  --key <key>    accept only this Bearer key; may be given several times (default: any)
  --config <p>   another file than coordinator.yaml
  --help         this text
`;

export interface CliOptions {
  readonly port: number;
  readonly speed: number;
  readonly seed: number;
  readonly apiKeys: readonly string[];
  readonly configFile: string | undefined;
  readonly wantsHelp: boolean;
}

/** @throws RangeError or Node's TypeError naming the fault. */
export function parseCliOptions(words: readonly string[]): CliOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      port: { type: 'string', default: '9090' },
      speed: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      key: { type: 'string', multiple: true, default: [] },
      config: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const port = numberOf('port', values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`--port must be a whole number from 0 to 65535, got ${values.port}`);
  }
  return {
    port,
    speed: numberOf('speed', values.speed),
    seed: numberOf('seed', values.seed),
    apiKeys: values.key,
    configFile: values.config,
    wantsHelp: values.help,
  };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) {
    throw new RangeError(`--${name} must be a number, got '${text}'`);
  }
  return number;
}
