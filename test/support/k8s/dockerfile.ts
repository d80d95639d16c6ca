/** One instruction of a Dockerfile, its continued lines put together. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A stage of a Dockerfile, from its FROM on. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** What stands before the first FROM, and the stages. */
export interface Dockerfile {
  readonly args: ReadonlyMap<string, string>;
  readonly stages: readonly Stage[];
}

export function parseDockerfile(text: string): Dockerfile {
  const instructions = text
    .replace(/^\s*#.*$/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => /^\s*([A-Z]+)\s+(.*\S)/.exec(line))
    .flatMap((found) => (found === null ? [] : [{ name: found[1] ?? '', text: found[2] ?? '' }]));
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  const before = instructions.slice(0, starts[0]).filter(({ name }) => name === 'ARG');
  return {
    args: new Map(before.map(({ text: words }) => [words.split('=')[0] ?? '', words.slice(words.indexOf('=') + 1)])),
    stages: starts.map((start, index) => stageOf(instructions.slice(start, starts[index + 1]))),
  };
}

function stageOf([from, ...instructions]: readonly Instruction[]): Stage {
  const [, base = '', name = ''] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(from?.text ?? '') ?? [];
  return { name, base, instructions };
}

/** The last stage: what is shipped. @throws Error where there is none */
export function shippedStage({ stages }: Dockerfile): Stage {
  const stage = stages.at(-1);
  if (stage === undefined) throw new Error('there is no stage');
  return stage;
}

export function textsOf({ instructions }: Stage, name: string): readonly string[] {
  return instructions.filter((instruction) => instruction.name === name).map(({ text }) => text);
}

/** Everything that is wrong with the image that a Dockerfile makes. */
export function dockerfileFaults(dockerfile: Dockerfile): readonly string[] {
  const shipped = shippedStage(dockerfile);
  const rules: readonly (readonly [fault: string, isSo: boolean])[] = [
    [
      'the base has no digest',
      /^[\w.-]+(\/[\w.-]+)+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(dockerfile.args.get('NODE_IMAGE') ?? ''),
    ],
    ['a stage has another base', dockerfile.stages.every(({ base }) => base === '${NODE_IMAGE}')],
    [
      'the command goes through a shell or npm',
      /^\["node", .*"dist\/main\.js"\]$/.test(textsOf(shipped, 'CMD').at(-1) ?? ''),
    ],
    ['something stands between the platform and node', textsOf(shipped, 'ENTRYPOINT').length === 0],
    ['its user is root, or no number', /^[1-9]\d*:[1-9]\d*$/.test(textsOf(shipped, 'USER').at(-1) ?? '')],
    ['what is shipped installs something', textsOf(shipped, 'RUN').length === 0],
    ['it ships development packages', shipsOnlyDependencies(dockerfile)],
    ['it has no health check', /^.*CMD \["node", /.test(textsOf(shipped, 'HEALTHCHECK').at(-1) ?? '')],
    ['it is reached from nowhere', environmentOf(shipped).get('HOST') === '0.0.0.0'],
    ['load balancers have no time to notice', environmentOf(shipped).get('DRAIN_DELAY_MS') === '5000'],
    ['it is no production', environmentOf(shipped).get('NODE_ENV') === 'production'],
    ['its heap has no bound', /--max-old-space-size=\d+/.test(environmentOf(shipped).get('NODE_OPTIONS') ?? '')],
  ];
  return rules.flatMap(([fault, isSo]) => (isSo ? [] : [fault]));
}

export function environmentOf(stage: Stage): ReadonlyMap<string, string> {
  const pairs = textsOf(stage, 'ENV').flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)]);
  return new Map(pairs.map(([, name = '', value = '']) => [name, value]));
}

/** True where the packages come from a stage that installs without the development ones, and scripts of packages never run. */
function shipsOnlyDependencies({ stages }: Dockerfile): boolean {
  const shipped = stages.at(-1);
  if (shipped === undefined) return false;
  const [, source] = /--from=(\S+) \S*node_modules/.exec(textsOf(shipped, 'COPY').join('\n')) ?? [];
  const installs = stages.filter(({ name }) => name === source).flatMap((stage) => textsOf(stage, 'RUN'));
  return (
    installs.length === 1 &&
    installs.every((line) => /^npm ci .*--omit=dev/.test(line) && line.includes('--ignore-scripts'))
  );
}
