import type { ProviderSettings, Settings, StoreSettings } from './settings.js';

/**
 * Every text in the settings that must never be logged, shown or sent to anybody but its owner, in each spelling in which
 * it could turn up. Callers' keys are not among them: only their hashes are kept.
 */
export function secretsOf(settings: Settings): readonly string[] {
  const secrets = [...settings.providers.flatMap(keysOf), ...passwordsOf(settings.store)];
  return [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))];
}

function keysOf({ apiKey, kind }: ProviderSettings): readonly string[] {
  if (apiKey === undefined) return [];
  return kind === 'vertex' && apiKey.startsWith('{') ? [apiKey, ...privateKeyOf(apiKey)] : [apiKey];
}

/** The part of a service account's JSON that is secret by itself, as parsed and as written. */
function privateKeyOf(json: string): readonly string[] {
  const account: unknown = JSON.parse(json);
  const key =
    typeof account === 'object' && account !== null && 'private_key' in account ? account.private_key : undefined;
  return typeof key === 'string' && key !== '' ? [key, JSON.stringify(key).slice(1, -1)] : [];
}

function passwordsOf(store: StoreSettings): readonly string[] {
  if (store.kind === 'memory') return [];
  const sentinelPassword = store.kind === 'sentinel' ? store.sentinelPassword : undefined;
  return [store.password, sentinelPassword].filter((password) => password !== undefined);
}
