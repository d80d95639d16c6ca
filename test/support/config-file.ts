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

/** One model for the file, served by the provider of the same name. */
export function modelAt(provider: string, name: string, more: object = {}): object {
  return {
    name,
    created: 1,
    contextWindow: 1_000_000,
    maxOutputTokens: 10_000,
    deployments: [{ provider, model: name, prices: { input: 2, output: 8 } }],
    ...more,
  };
}

/** A provider for the file; its key is in `<NAME>_KEY`. */
export function providerAt(name: string, baseUrl: string): object {
  return { name, kind: 'openai', baseUrl, keyVariable: `${name.toUpperCase()}_KEY` };
}
