import { APPLICATION_DEFAULT } from './environment/google-credentials.js';
import type { ProviderSettings, Settings, StoreSettings } from './settings.js';
import type { TelemetrySettings } from './telemetry.settings.js';

/**
 * Every text in the settings that must never be logged, shown or sent to anybody but its owner, in each spelling in which
 * it could turn up. Callers' keys are not among them: only their hashes are kept.
 */
export function secretsOf(settings: Settings): readonly string[] {
  const secrets = [
    ...settings.providers.flatMap(keysOf),
    ...passwordsOf(settings.store),
    ...secretsOfCollectors(settings.telemetry),
  ];
  return [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))];
}

function keysOf({ apiKeys, kind }: ProviderSettings): readonly string[] {
  if (kind !== 'vertex') return apiKeys;
  return apiKeys.filter((key) => key !== APPLICATION_DEFAULT).flatMap((key) => [key, ...secretMembersOf(key)]);
}

const SECRET_MEMBERS = ['private_key', 'client_secret', 'refresh_token'];

/** The parts of a credentials file that are secret by themselves, as parsed and as written. */
function secretMembersOf(key: string): readonly string[] {
  if (!key.startsWith('{')) return [];
  const file: unknown = JSON.parse(key);
  return Object.entries(typeof file === 'object' && file !== null ? file : {}).flatMap(
    ([name, value]: [string, unknown]) =>
      SECRET_MEMBERS.includes(name) && typeof value === 'string' && value !== ''
        ? [value, JSON.stringify(value).slice(1, -1)]
        : [],
  );
}

function passwordsOf(store: StoreSettings): readonly string[] {
  if (store.kind === 'memory') return [];
  const sentinelPassword = store.kind === 'sentinel' ? store.sentinelPassword : undefined;
  return [store.password, sentinelPassword, store.tlsKey].filter((password) => password !== undefined);
}

/** Headers, with and without the scheme of an Authorization, and what a URL's query holds. */
function secretsOfCollectors({ traces, metrics }: TelemetrySettings): readonly string[] {
  const collectors = [traces, metrics].filter((collector) => collector !== undefined);
  const all = collectors.flatMap(({ url, headers }) => [
    ...Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ /, '')]),
    ...new URL(url).searchParams.values(),
  ]);
  return all.filter((text) => text !== '');
}
