import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A coordinator.yaml of a test's own. */
export interface ConfigFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** @param content JSON is YAML */
export async function writeConfig(content: object): Promise<ConfigFile> {
  const folder = await mkdtemp(join(tmpdir(), 'coordinator-'));
  const path = join(folder, 'coordinator.yaml');
  await writeFile(path, JSON.stringify(content));
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A file with which every request is a call: nothing is limited, and no answer is reused. */
export interface OpenConfig extends ConfigFile {
  /** What a server is started with. */
  readonly environment: Readonly<Record<string, string>>;
}

/** @param baseUrl of the provider, who knows the models by these names */
export async function writeOpenConfig(baseUrl: string, names: readonly string[]): Promise<OpenConfig> {
  const file = await writeConfig({
    providers: [providerAt('open', baseUrl)],
    models: names.map((name) => modelAt('open', name)),
    tiers: openTiers(names),
  });
  return { ...file, environment: { CONFIG_FILE: file.path, OPEN_KEY: 'none' } };
}

/** One model for the file, served by the provider of the same name. Its answers are not reused: each request is a call. */
export function modelAt(provider: string, name: string, more: object = {}): object {
  return {
    name,
    created: 1,
    contextWindow: 1_000_000,
    maxOutputTokens: 10_000,
    cacheTtlMs: 0,
    deployments: [{ provider, model: name, prices: { input: 2, output: 8 } }],
    ...more,
  };
}

/** One model for the file at several providers, in this order; its name there is `<provider>-<name>`. */
export function modelAcross(providers: readonly string[], name: string, more: object = {}): object {
  const prices = { input: 2, cachedInput: 0.5, output: 8 };
  const deployments = providers.map((provider) => ({ provider, model: `${provider}-${name}`, prices }));
  return modelAt('', name, { deployments, ...more });
}

/** A provider for the file; its key is in `<NAME>_KEY`. */
export function providerAt(name: string, baseUrl: string, more: object = {}): object {
  return { name, kind: 'openai', baseUrl, keyVariable: `${name.toUpperCase()}_KEY`, ...more };
}

/** Every model for everybody. */
export function openTiers(names: readonly string[]): object {
  return { free: names, pro: names, enterprise: names };
}
