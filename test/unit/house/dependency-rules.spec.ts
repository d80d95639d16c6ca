import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { plantProject, type PlantedProject, ROOT } from '../../support/planted-project.js';

/** Files with one fault each, and the rule that must find it. */
const FAULTS: readonly (readonly [rule: string, path: string, text: string])[] = [
  ['lock-imports-downward', 'src/lock/upward.ts', "import '../ai/index.js';"],
  ['tokens-imports-downward', 'src/tokens/sideways.ts', "import '../config/index.js';"],
  ['observability-imports-downward', 'src/observability/upward.ts', "import '../http/index.js';"],
  ['lock-imports-downward', 'src/lock/composition.ts', "import '../app.module.js';"],
  [
    'lock-imports-downward',
    'src/lock/types-only.ts',
    "import type { ai } from '../ai/index.js'; export type A = typeof ai;",
  ],
  ['only-through-index', 'src/ai/around-the-index.ts', "import '../lock/inner.js';"],
  ['compose-through-index', 'src/main.ts', "import './lock/inner.js';"],
  ['simulator-started-by-boot', 'src/app.module.ts', "import './simulator/index.js';"],
  ['no-cycles', 'src/lock/circle.ts', "import './inner.js'; export const circle = 1;"],
  ['no-module-without-a-row', 'src/newcomer/index.ts', "import '../config/index.js';"],
  ['no-vague-names', 'src/ai/vague.ts', "import './helpers/text.js';"],
  ['no-vague-names', 'src/ai/vaguer.ts', "import './utils.js';"],
  ['no-test-code', 'src/ai/test-code.ts', "import '../../test/support/fake.js';"],
  ['only-declared-packages', 'src/ai/development-package.ts', "import 'fast-check';"],
  ['only-declared-packages', 'src/ai/undeclared-package.ts', "import 'ajv';"],
  ['sdk-behind-a-port', 'src/ai/sdk.ts', "import '@opentelemetry/sdk-trace-base';"],
  ['sdk-on-demand', 'src/observability/at-once.ts', "import './otlp/sdk.js';"],
  ['everything-resolves', 'src/ai/nowhere.ts', "import './nowhere-at-all.js';"],
];

const SOUND = {
  'package.json': JSON.stringify({
    type: 'module',
    dependencies: { pino: '*', '@opentelemetry/api': '*', '@opentelemetry/sdk-trace-base': '*' },
    devDependencies: { 'fast-check': '*' },
  }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { module: 'nodenext', moduleResolution: 'nodenext' } }),
  'src/config/index.ts': 'export const config = 1;',
  'src/lock/index.ts': "export { circle } from './circle.js';",
  'src/lock/inner.ts': "import './circle.js';",
  'src/ai/index.ts': "import 'pino'; import { config } from '../config/index.js'; export const ai = config;",
  'src/ai/helpers/text.ts': 'export const text = 1;',
  'src/ai/utils.ts': 'export const text = 1;',
  'src/http/index.ts': 'export const http = 1;',
  'src/observability/on-demand.ts':
    "import '@opentelemetry/api'; import type { sdk } from './otlp/sdk.js'; export const get = (): Promise<typeof sdk> => import('./otlp/sdk.js');",
  'src/observability/otlp/sdk.ts': "import '@opentelemetry/sdk-trace-base'; export const sdk = 1;",
  'src/simulator/index.ts': 'export const simulator = 1;',
  'test/support/fake.ts': "import '../../src/ai/index.js'; export const fake = 1;",
};

const SOUND_IMPORTS = ['src/ai/index.ts', 'test/support/fake.ts', 'src/observability/on-demand.ts'];

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

describe('the dependency rules', () => {
  let project: PlantedProject;
  let violations: readonly Violation[];

  beforeAll(async () => {
    project = await plantProject({ ...SOUND, ...Object.fromEntries(FAULTS.map(([, path, text]) => [path, text])) });
    const cruiser = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const rules = join(ROOT, '.dependency-cruiser.mjs');
    const { output } = await project.run(cruiser, '--config', rules, '--output-type', 'json', 'src', 'test');
    ({
      summary: { violations },
    } = JSON.parse(output) as { summary: { violations: readonly Violation[] } });
  }, 60_000);
  afterAll(() => project.remove());

  it.each(FAULTS)('find by %s what is wrong with %s', (rule, path) => {
    expect(violations.filter(({ from }) => from === path).map((violation) => violation.rule.name)).toContain(rule);
  });

  it('find nothing wrong with an import that runs downward through the index', () => {
    expect(violations.filter(({ from }) => SOUND_IMPORTS.includes(from))).toEqual([]);
  });
});
