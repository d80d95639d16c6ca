import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import {
  ConfigurationError,
  loadSettings,
  SHIPPED_CONFIG_FILE,
  type Environment,
  type Settings,
} from '../../../src/config/index.js';

/** 29 November 2026. */
export const NOW = Date.parse('2026-11-29T00:00:00Z');

const SHIPPED = readFileSync(SHIPPED_CONFIG_FILE, 'utf8');

interface Given {
  readonly environment?: Environment;
  /** By path; `coordinator.yaml` is found before the shipped file. */
  readonly files?: Readonly<Record<string, string>>;
  readonly now?: number;
}

/** Loads from memory; the shipped file is there, as in an installation. */
export function load({ environment = {}, files = {}, now = NOW }: Given = {}): Settings {
  return loadSettings({
    environment,
    now,
    readFile: (path) => textOf({ [SHIPPED_CONFIG_FILE]: SHIPPED, ...files }, path),
  });
}

function textOf(files: Readonly<Record<string, string>>, path: string): string {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
  return text;
}

/** The faults of a load that must fail. */
export function faultsOf(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  throw new Error('there was no fault');
}

export function loadFile(content: unknown, environment: Environment = {}): Settings {
  return load({ environment, files: { 'coordinator.yaml': asYaml(content) } });
}

export function faultsOfFile(content: unknown, environment: Environment = {}): readonly string[] {
  return faultsOf({ environment, files: { 'coordinator.yaml': asYaml(content) } });
}

function asYaml(content: unknown): string {
  return typeof content === 'string' ? content : stringify(content, { aliasDuplicateObjects: false });
}

/** The smallest file that loads, with `changes` on top of it. */
export function fileWith(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    providers: [provider()],
    models: [model()],
    tiers: { free: ['m'], pro: ['m'], enterprise: ['m'] },
    ...changes,
  };
}

export function provider(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'p', kind: 'openai', baseUrl: 'https://p.example/v1', keyVariable: 'P_KEY', ...changes };
}

export function model(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'm',
    contextWindow: 1000,
    maxOutputTokens: 100,
    deployments: [{ provider: 'p', model: 'm-1' }],
    ...changes,
  };
}

export function caller(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'app', keySha256: 'ab'.repeat(32), tier: 'pro', ...changes };
}
