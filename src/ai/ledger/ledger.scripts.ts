import { loadScripts, type LoadOptions, type Script } from '../../store/index.js';

const NAMES = ['book', 'sums', 'page'] as const;

export type LedgerScripts = Readonly<Record<(typeof NAMES)[number], Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadLedgerScripts(options: LoadOptions = {}): LedgerScripts {
  return loadScripts(new URL('./scripts/', import.meta.url), NAMES, options);
}
