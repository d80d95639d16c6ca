import { hash } from 'node:crypto';
import type { CallerSettings } from '../../src/config/index.js';

/** Settings of a caller whose key is `key`. */
export function callerWithKey(key: string, settings: Partial<CallerSettings> = {}): CallerSettings {
  return {
    name: 'acme',
    tier: 'pro',
    weight: 3,
    scopes: ['chat'],
    limits: {},
    ...settings,
    keySha256: hash('sha256', key),
  };
}
