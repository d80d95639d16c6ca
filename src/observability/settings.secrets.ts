import type { Settings } from '../config/index.js';

/** Every secret that the settings hold, for {@link LoggerOptions.secrets}. Callers' keys are not among them: only hashes are kept. */
export function secretsOf({ providers, store }: Pick<Settings, 'providers' | 'store'>): string[] {
  const passwords = store.kind === 'memory' ? [] : [store.password];
  const sentinelPassword = store.kind === 'sentinel' ? store.sentinelPassword : undefined;
  return [...providers.map(({ apiKey }) => apiKey), ...passwords, sentinelPassword].filter(
    (secret) => secret !== undefined,
  );
}
