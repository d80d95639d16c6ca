import { beforeAll, describe, expect, it } from '@jest/globals';
import { ESLint, type Linter } from 'eslint';
import { join } from 'node:path';
import { ROOT } from '../../support/planted-project.js';

/** Text of a script, and the rule that must find its fault. Only rules that need no types can be tried on text alone. */
const FAULTS: readonly (readonly [rule: string, text: string])[] = [
  ['max-lines', '// line\n'.repeat(251)],
  ['max-lines-per-function', `export function long() {\n${'  // line\n'.repeat(40)}}\n`],
  ['max-params', 'export function many(a, b, c, d, e) { return [a, b, c, d, e]; }\n'],
  ['complexity', `export function branchy(a) { ${'if (a) { a += 1; } '.repeat(10)} return a; }\n`],
  ['no-restricted-exports', 'export default 1;\n'],
  ['no-restricted-syntax', 'export class LockManager {}\n'],
  ['no-restricted-syntax', 'export const handler = (req) => req;\n'],
  ['no-restricted-syntax', 'const opts = 1;\nexport { opts };\n'],
  ['house/disable-with-reason', '// eslint-disable-next-line no-console\nconsole.log(1);\n'],
  ['no-empty', 'try { Math.random(); } catch {}\n'],
];

const TYPED_RULES = [
  '@typescript-eslint/no-explicit-any',
  '@typescript-eslint/no-floating-promises',
  '@typescript-eslint/no-non-null-assertion',
  '@typescript-eslint/switch-exhaustiveness-check',
  'no-restricted-properties',
  'no-restricted-globals',
  'no-restricted-imports',
  'regexp/no-super-linear-backtracking',
  'regexp/no-super-linear-move',
] as const;

const isError = (entry: Linter.RuleEntry | undefined): boolean => {
  const severity = Array.isArray(entry) ? entry[0] : entry;
  return severity === 2 || severity === 'error';
};

describe('the lint rules', () => {
  const eslint = new ESLint({ cwd: ROOT });
  let sources: Linter.RulesRecord;
  let config: Linter.RulesRecord;

  const rulesOf = async (path: string): Promise<Linter.RulesRecord> => {
    const found = (await eslint.calculateConfigForFile(join(ROOT, path))) as { rules: Linter.RulesRecord };
    return found.rules;
  };

  beforeAll(async () => {
    sources = await rulesOf('src/ai/any.ts');
    config = await rulesOf('src/config/any.ts');
  });

  it.each(FAULTS)('find by %s what is wrong with a script', async (rule, text) => {
    const [result] = await eslint.lintText(text, { filePath: join(ROOT, 'scripts/planted.mjs') });
    expect(result?.messages.map(({ ruleId }) => ruleId)).toContain(rule);
  });

  it('accept a directive with its reason', async () => {
    const text = '// eslint-disable-next-line eqeqeq -- null and undefined alike\nexport const a = (b) => b == null;\n';
    const [result] = await eslint.lintText(text, { filePath: join(ROOT, 'scripts/planted.mjs') });
    expect(result?.messages).toEqual([]);
  });

  it.each(TYPED_RULES)('hold %s for sources', (rule) => {
    expect(isError(sources[rule])).toBe(true);
  });

  it('let config/, and only config/, read the environment', () => {
    expect(isError(sources['no-restricted-properties'])).toBe(true);
    expect(isError(config['no-restricted-properties'])).toBe(false);
  });
});
