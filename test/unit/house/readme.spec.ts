import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { pino } from 'pino';
import { AdmissionMetrics } from '../../../src/admission.metrics.js';
import { LockMetrics } from '../../../src/lock.metrics.js';
import { CompletionObserver } from '../../../src/ai/call/completion.observer.js';
import { FleetMetrics } from '../../../src/ai/fleet/fleet.metrics.js';
import { Fleet } from '../../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../../src/ai/fleet/memory-fleet.store.js';
import { LedgerMetrics } from '../../../src/ai/ledger/ledger.metrics.js';
import { LearnedMetrics } from '../../../src/ai/quota/learned.metrics.js';
import { ReuseMetrics } from '../../../src/ai/reuse/reuse.metrics.js';
import { ENVIRONMENT_TABLE, loadSettings } from '../../../src/config/index.js';
import { STATUS_TABLE, type StatusRow } from '../../../src/http/index.js';
import { HttpMetrics } from '../../../src/observability/http.metrics.js';
import { catalogue } from '../../support/catalogues.js';
import { ROOT } from '../../support/planted-project.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The cells of every row of the tables that stand under a heading, up to the next one of its level or above. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  return sectionUnder(heading)
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ |:-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

function sectionUnder(heading: string): string {
  const start = README.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`README.md has no heading "${heading}"`);
  const rest = README.slice(start + heading.length + 2);
  const level = heading.indexOf(' ');
  const end = rest.search(new RegExp(`^#{1,${String(level)}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}

describe('README.md, environment', () => {
  it('has each variable once, with its default', () => {
    const documented = rowsUnder('### Environment')
      .filter(([name]) => name !== 'Variable')
      .map(([name, initial]) => [name, initial]);
    const actual = ENVIRONMENT_TABLE.map(({ name, default: initial, isSecret }) => [
      `\`${name}\``,
      initial === undefined ? (isSecret ? 'secret' : 'unset') : `\`${initial}\``,
    ]);
    expect(documented.sort()).toEqual(actual.sort());
  });
});

describe('README.md, errors', () => {
  it('has the rows of the status table, in its order', () => {
    const documented = rowsUnder('## Errors').slice(1);
    const actual = Object.entries<StatusRow>(STATUS_TABLE).map(([code, row]) => [
      String(row.status),
      `\`${code}\``,
      row.shouldRetry === undefined ? '' : `\`${String(row.shouldRetry)}\``,
      row.retryAfterMs === undefined ? '' : `${String(row.retryAfterMs / 1_000)} s`,
    ]);
    expect(documented.map((cells) => cells.slice(0, 4))).toEqual(actual);
    expect(documented.filter((cells) => cells[4] === '')).toEqual([]);
  });
});

describe('README.md, metrics', () => {
  it('names every metric with its labels', () => {
    const registry = new Registry();
    const logger = pino({ level: 'silent' });
    const fleet = new Fleet({ store: new MemoryFleetStore(), deployments: [], models: [] });
    const metrics = [
      new HttpMetrics(registry),
      new CompletionObserver(registry, logger),
      new FleetMetrics(registry, logger),
      new LockMetrics(registry),
      new AdmissionMetrics(registry, logger),
      new ReuseMetrics(registry, logger),
      new LedgerMetrics(registry, logger),
      new LearnedMetrics(catalogue(), fleet, registry),
    ];
    expect(metrics).toHaveLength(8);
    const documented = rowsUnder('## Operating it')
      .filter(([name = '']) => /^`(coordinator|gen_ai)_/.test(name))
      .map(([name, labels]) => [name, labels]);
    const actual = registry.getMetricsAsArray().map((metric) => {
      const labels: unknown = Reflect.get(metric, 'labelNames');
      const names: readonly unknown[] = Array.isArray(labels) ? labels : [];
      return [`\`${metric.name}\``, names.map((label) => `\`${String(label)}\``).join(', ')];
    });
    const inTwoTables = (rows: readonly (readonly unknown[])[]) => rows.map((row) => row.join(' ')).sort();
    expect(inTwoTables(documented)).toEqual(inTwoTables(actual));
  });
});

describe('README.md, examples', () => {
  it('shows a coordinator.yaml that works', () => {
    const [, yaml] = /```yaml\n(.*?)```/s.exec(sectionUnder('### coordinator.yaml')) ?? [];
    const settings = loadSettings({
      environment: { CONFIG_FILE: 'own.yaml', LOCAL_API_KEY: 'none' },
      readFile: () => yaml ?? '',
      now: Date.parse('2026-11-29'),
    });
    expect(settings.upstream).toBe('providers');
    expect(settings.models.map(({ name }) => name)).toEqual(['llama']);
  });

  it('links to what is there', () => {
    const targets = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
    const files = targets.filter((target) => !/^(#|https?:)/.test(target));
    expect(files.filter((file) => !isThere(file))).toEqual([]);
    const headings = [...README.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
    const anchors = targets.filter((target) => target.startsWith('#')).map((target) => target.slice(1));
    expect(anchors.filter((anchor) => !headings.includes(anchor))).toEqual([]);
  });
});

describe('docs/adr', () => {
  it('names files that are there', () => {
    const pages = readdirSync(join(ROOT, 'docs/adr')).map((name) => readFileSync(join(ROOT, 'docs/adr', name), 'utf8'));
    const paths = pages.flatMap((page) =>
      [...page.matchAll(/`((?:src|test|scripts|bench|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path),
    );
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

/** As GitHub makes it: lower case, spaces to hyphens, other signs dropped. */
/** A file, and the heading in it where one is named. */
function isThere(target: string): boolean {
  const [file = '', anchor] = target.split('#');
  if (!existsSync(join(ROOT, file))) return false;
  if (anchor === undefined) return true;
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].some(([, text = '']) => anchorOf(text) === anchor);
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
