import { loadScripts, type LoadOptions, type Script } from '../store/index.js';

const NAMES = ['acquire', 'settle', 'cancel', 'beat', 'hold', 'learn', 'inspect'] as const;

export type AdmissionScripts = Readonly<Record<(typeof NAMES)[number], Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadAdmissionScripts(options: LoadOptions = {}): AdmissionScripts {
  return loadScripts(new URL('./scripts/', import.meta.url), NAMES, options);
}
