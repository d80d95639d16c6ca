import { type LoadOptions, loadScripts, type Script } from '../../../store/index.js';

const NAMES = ['enter', 'look', 'beat', 'finish', 'leave'] as const;

export type AnswerScripts = Readonly<Record<(typeof NAMES)[number], Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadAnswerScripts(options: LoadOptions = {}): AnswerScripts {
  return loadScripts(new URL('./scripts/', import.meta.url), NAMES, options);
}
