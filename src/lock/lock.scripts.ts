import { loadScripts, type LoadOptions, type Script } from '../store/index.js';

export type LockScripts = Readonly<Record<'acquire' | 'beat' | 'leave' | 'revoke' | 'inspect', Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadLockScripts(options: LoadOptions = {}): LockScripts {
  return loadScripts(
    new URL('./scripts/', import.meta.url),
    ['acquire', 'beat', 'leave', 'revoke', 'inspect'],
    options,
  );
}
