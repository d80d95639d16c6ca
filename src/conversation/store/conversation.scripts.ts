import { loadScripts, type LoadOptions, type Script } from '../../store/index.js';

const CONVERSATION = [
  ...(['create', 'find', 'change', 'remove', 'forget', 'clear'] as const),
  ...(['start', 'keyed', 'tell', 'end', 'turn', 'cancel', 'events'] as const),
  ...(['page', 'cards', 'count'] as const),
] as const;
const OWNER = ['touch', 'list', 'drop'] as const;

export type ConversationScripts = Readonly<Record<(typeof CONVERSATION)[number], Script>>;
export type OwnerScripts = Readonly<Record<(typeof OWNER)[number], Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadConversationScripts(options: LoadOptions = {}): ConversationScripts {
  return loadScripts(new URL('./scripts/', import.meta.url), CONVERSATION, options);
}

/** Reads owner-scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadOwnerScripts(options: LoadOptions = {}): OwnerScripts {
  return loadScripts(new URL('./owner-scripts/', import.meta.url), OWNER, options);
}
