import type { BootContext } from '../boot-context.js';
import { ENVIRONMENT_TABLE, namesOf } from '../environment/environment.table.js';
import type { ProviderSettings } from '../settings.js';
import { missingIn, resolveBaseUrl, variablesIn } from './base-url.js';
import type { ProviderFile } from './provider.file.js';
import { keyVariablesOf, providerKeys } from './provider.keys.js';

/** The last version that Microsoft made generally available before its v1 API. */
const USUAL_API_VERSION = '2024-10-21';

/** A provider with its keys and its real URL; faults are noted with their path in the file or the variable's name. */
export function providerSettings(file: ProviderFile, index: number, context: BootContext): ProviderSettings {
  const path = `providers[${String(index)}]`;
  const keys = providerKeys(file, path, context);
  const apiVersion = apiVersionOf(file, path, context);
  return {
    name: file.name,
    kind: file.kind,
    baseUrl: baseUrlOf(file, { path, keyedBy: keys[0]?.variable }, context),
    keyVariables: keyVariablesOf(file),
    apiKeys: keys.map(({ key }) => key),
    apiKeyVariables: keys.map(({ variable }) => variable),
    ...(file.usagePath === undefined ? {} : { usagePath: file.usagePath }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    contextErrorPatterns: file.contextErrorPatterns.map((text) => new RegExp(text, 'i')),
    allowPrivate: file.allowPrivate,
  };
}

interface UrlPlace {
  readonly path: string;
  /** A variable that holds a key; undefined: the provider is not used, and its URL may be incomplete. */
  readonly keyedBy: string | undefined;
}

function baseUrlOf(file: ProviderFile, { path, keyedBy }: UrlPlace, { reader, faults }: BootContext): string {
  const at = `${path}.baseUrl`;
  const valueOf = (name: string) => reader.plain(name);
  const secrets = secretVariables(file).filter((name) => reader.isSet(name));
  if (secrets.length > 0) faults.add(at, `must not contain ${secrets.join(', ')}: URLs are shown in logs`);
  const missing = missingIn(file.baseUrl, valueOf);
  if (keyedBy !== undefined && missing.length > 0)
    faults.add(at, `needs ${missing.join(' and ')}, because ${keyedBy} is set`);
  const baseUrl = faults.parse(at, () => resolveBaseUrl(file.baseUrl, valueOf)) ?? '';
  if (file.deploymentUrls && /\/openai(\/|$)/.test(baseUrl))
    faults.add(at, 'must be the endpoint of the resource, without /openai, because deploymentUrls is true');
  return baseUrl;
}

/** The names in the URL that stand for a secret: a key in a URL ends up in logs. */
function secretVariables(file: ProviderFile): readonly string[] {
  const secrets = [...namesOf(ENVIRONMENT_TABLE.filter(({ isSecret }) => isSecret)), ...keyVariablesOf(file)];
  return variablesIn(file.baseUrl).filter((name) => secrets.includes(name));
}

function apiVersionOf(file: ProviderFile, path: string, { faults }: BootContext): string | undefined {
  const { kind, deploymentUrls, apiVersion } = file;
  if (kind !== 'azure') {
    if (deploymentUrls) faults.add(`${path}.deploymentUrls`, `is only for providers of kind azure, not ${kind}`);
    if (apiVersion !== undefined) faults.add(`${path}.apiVersion`, `is only for providers of kind azure, not ${kind}`);
    return undefined;
  }
  if (deploymentUrls) return apiVersion ?? USUAL_API_VERSION;
  if (apiVersion !== undefined)
    faults.add(`${path}.apiVersion`, 'needs deploymentUrls: true: the v1 API has no api-version');
  return undefined;
}
