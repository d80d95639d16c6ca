import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run simulator -- [options]

Plays coordinator.yaml's models as an OpenAI-compatible provider on 127.0.0.1.

  --port <n>     port; 0 takes a free one (default 9090)
  --speed <x>    divides the models' delays (default 1)
  --seed <n>     the same seed and request give the same reply (default 1)
  --key <key>    accept only this Bearer key; may be given several times (default: any)
  --limit <l>    what each key may use: [MODEL:]rpm=60,tpm=90000,requests=10/1s,tokens=5000/2s,concurrency=5,
                 rule=adm|cmp|safe,output=1024,window=10s; without MODEL for all others; may be given several
                 times (default: no limits; docs/simulator.md says what each means)
  --config <p>   another file than coordinator.yaml
  --help         this text
`;

export interface CliOptions {
  readonly port: number;
  readonly speed: number;
  readonly seed: number;
  readonly apiKeys: readonly string[];
  /** By model, `*` for all others. */
  readonly limits: Readonly<Record<string, string>>;
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
      limit: { type: 'string', multiple: true, default: [] },
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
    limits: limitsOf(values.limit),
    configFile: values.config,
    wantsHelp: values.help,
  };
}

function limitsOf(words: readonly string[]): Readonly<Record<string, string>> {
  const limits = new Map<string, string>();
  for (const word of words) {
    // A model's name may hold colons, limits never do.
    const end = word.lastIndexOf(':');
    const model = end === -1 ? '*' : word.slice(0, end);
    if (limits.has(model)) {
      throw new RangeError(`--limit is given twice for ${model}: join them by commas`);
    }
    limits.set(model, word.slice(end + 1));
  }
  return Object.fromEntries(limits);
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) {
    throw new RangeError(`--${name} must be a number, got '${text}'`);
  }
  return number;
}
