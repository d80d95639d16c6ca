import { keyOfName, unescapeText } from './lock.keys.js';
import type { LockMessage } from './lock.store.js';

/** kind, token, fence, lease in ms, name of the lock's hash; the last may hold bars, from the prefix. */
const MESSAGE = /^([GV])\|([^|]*)\|(\d+)\|(\d+)\|(.*)$/s;

/** What `tell` of prelude.lua sends; undefined for anything else that somebody published. */
export function readMessage(prefix: string, text: string): LockMessage | undefined {
  const [, kind, token, fence, leaseMs, name] = MESSAGE.exec(text) ?? [];
  if (token === undefined || name === undefined) return undefined;
  const key = keyOfName(prefix, name);
  if (key === undefined) return undefined;
  const about = { key, token: unescapeText(token), fence: Number(fence) };
  return kind === 'G' ? { kind: 'grant', ...about, leaseMs: Number(leaseMs) } : { kind: 'revoke', ...about };
}
