import { StoreConfigurationError } from './store.errors.js';

/** The first whose scripts may read the clock and then write: before, they were replicated by their text (Redis 5.0 release notes). */
const OLDEST = 5;

/** @param info what INFO says; Valkey names the Redis version that it is compatible with. @throws StoreConfigurationError */
export function checkVersion(info: ReadonlyMap<string, string>): void {
  const version = info.get('redis_version');
  const major = Number.parseInt(version ?? '', 10);
  if (version === undefined || Number.isNaN(major) || major >= OLDEST) return;
  throw new StoreConfigurationError(
    'old_server',
    `redis is version ${version}: it must be ${OLDEST} or newer, or Valkey`,
  );
}
