import { hash } from 'node:crypto';
import type { CallerSettings } from '../../src/config/index.js';

/** Settings of a caller whose only key is `key`. */
export function callerWithKey(key: string, settings: Partial<CallerSettings> = {}): CallerSettings {
  return {
    name: 'acme',
    keys: [{ sha256: hash('sha256', key) }],
    tier: 'pro',
    weight: 3,
    scopes: ['chat'],
    limits: {},
    ...settings,
  };
}
