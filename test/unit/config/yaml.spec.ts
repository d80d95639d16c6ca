import { describe, expect, it } from '@jest/globals';
import { faultsOfFile, fileWith, loadFile } from './sources.js';

describe('YAML syntax faults', () => {
  it('are reported with line and column, and without the text around them', () => {
    const faults = faultsOfFile('providers:\n  - name: S3CR3T: b\n');
    expect(faults).toEqual([expect.stringMatching(/^coordinator\.yaml:2:\d+: Nested mappings are not allowed/)]);
    expect(faults.join()).not.toContain('S3CR3T');
  });

  it('are reported together', () => {
    const faults = faultsOfFile('a: [1,\nb: {\n\tc: "d\n');
    expect(faults.length).toBeGreaterThan(1);
    for (const fault of faults) expect(fault).toMatch(/^coordinator\.yaml:\d+:\d+: /);
  });

  it('are a key set twice, beside the faults of the content', () => {
    const faults = faultsOfFile('tiers: {}\nproviders: 5\ntiers: {}\n');
    expect(faults[0]).toBe('coordinator.yaml:3:1: this key is set twice in one mapping');
    expect(faults).toContain('providers: must be a list');
  });

  it.each([
    ['several documents', '---\na: 1\n---\nb: 2\n', /coordinator\.yaml:3:1: must be a single YAML document/],
    ['an unknown anchor', 'a: *nowhere\n', /coordinator\.yaml: Unresolved alias .*nowhere/],
    ['an unknown tag', 'a: !wish 1\n', /coordinator\.yaml:1:4: Unresolved tag: !wish/],
    ['a merge of a number', 'a: { <<: 3 }\n', /coordinator\.yaml: Merge sources must be maps/],
    ['a number with a leading zero', 'a: 010\n', /coordinator\.yaml:1:4: must be a number without leading zeros/],
    ['a tab', '\ta: 1\n', /coordinator\.yaml:1:1: Tabs are not allowed/],
  ])('are %s', (_case, text, fault) => {
    expect(faultsOfFile(text).some((found) => fault.test(found))).toBe(true);
  });
});

describe('hostile YAML', () => {
  it('cannot multiply itself ("billion laughs")', () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) =>
        `l${String(level + 1)}: &l${String(level + 1)} [${Array(9)
          .fill(`*l${String(level)}`)
          .join(', ')}]`,
    );
    expect(faultsOfFile(['l0: &l0 [x]', ...levels].join('\n'))).toEqual([
      expect.stringContaining('Excessive alias count'),
    ]);
  });

  it('cannot multiply itself by merge keys', () => {
    const levels = Array.from(
      { length: 200 },
      (_, level) =>
        `m${String(level + 1)}: &m${String(level + 1)} { <<: [*m${String(level)}, *m${String(level)}], k${String(level)}: 1 }`,
    );
    expect(faultsOfFile(['m0: &m0 { x: 1 }', ...levels].join('\n')).length).toBeGreaterThan(0);
  });

  it.each([
    ['a list in itself', 'providers: &p [*p]\n'],
    ['a mapping in itself', 'tiers: &t { free: *t }\n'],
    ['a merge with itself', 'tiers: &t { <<: *t }\n'],
    ['deep nesting', '['.repeat(20_000)],
    ['deep balanced nesting', `a: ${'['.repeat(3_000)}${']'.repeat(3_000)}`],
    ['mappings as keys', '? { a: 1 }\n: 2\n? [b]\n: 3\n'],
    ['a set', 'providers: !!set { a, b }\n'],
    ['binary', 'providers: !!binary aGVsbG8=\n'],
    ['a constructor', 'models: [{ constructor: 3, name: { constructor: 4 } }]\nconstructor: 5\n'],
    ['a prototype', '__proto__: { providers: [] }\nprototype: 1\ntoString: 2\nhasOwnProperty: 3\n'],
    ['a long file', `# ${'x'.repeat(1_000_000)}\n`],
  ])('is refused as usual: %s', (_case, text) => {
    expect(faultsOfFile(text).length).toBeGreaterThan(0);
  });

  it('names keys that every object has', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'];
    const extra = Object.fromEntries(names.map((name) => [name, 1]));
    const faults = faultsOfFile(
      JSON.stringify(fileWith()).replace(/}$/, `,${JSON.stringify(extra).slice(1, -1)},"__proto__":{"a":1}}`),
    );
    for (const name of names) expect(faults.join('\n')).toContain(`${name}: unknown key`);
  });

  it('stays text where YAML 1.1 saw more in it', () => {
    const [first] = loadFile(JSON.stringify(fileWith()).replace('"m-1"', 'off')).models;
    expect(first?.deployments[0]?.model).toBe('off');
  });
});
