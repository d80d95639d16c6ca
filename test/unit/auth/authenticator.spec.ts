import { hash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AuthModuleOptions } from '../../../src/auth/auth.module-definition.js';
import { Authenticator } from '../../../src/auth/authenticator.js';
import { FORGET_ONE_MS, TOLERATED_GUESSES } from '../../../src/auth/guess.damper.js';
import { ANONYMOUS, CallerRegistry, InvalidApiKeyError } from '../../../src/auth/index.js';
import { TokenVerifier } from '../../../src/auth/token.verifier.js';
import { createLogger } from '../../../src/observability/index.js';
import { callerWithKey } from '../../support/callers.js';
import { LogLines } from '../../support/log-lines.js';

const START = Date.parse('2026-11-29T00:00:00Z');
const HOUR_MS = 3_600_000;
const bearer = (key: string): string[] => ['Authorization', `Bearer ${key}`];

let now: number;
let log: LogLines;
let authenticator: Authenticator;

function authenticatorOf(callers: AuthModuleOptions['callers']): Authenticator {
  const logger = createLogger({ level: 'info', secrets: [] }, log);
  const options = { callers, logger, clock: { now: () => now, elapsed: () => now - START } };
  const registry = new CallerRegistry(options);
  return new Authenticator(options, registry, new TokenVerifier(options, registry));
}

beforeEach(() => {
  now = START;
  log = new LogLines();
  authenticator = authenticatorOf([
    callerWithKey('', {
      keys: [
        { sha256: hash('sha256', 'old-key'), expires: START + 2 * HOUR_MS },
        { sha256: hash('sha256', 'new-key'), notBefore: START + HOUR_MS },
      ],
    }),
    callerWithKey('other-key', { name: 'other' }),
  ]);
});

/** The caller's name, or the error's code. */
async function enter(key: string, address = '192.0.2.1'): Promise<string> {
  try {
    return (await authenticator.authenticate({ rawHeaders: bearer(key), address })).id;
  } catch (error) {
    return String(Reflect.get(Object(error), 'code'));
  }
}

describe('Authenticator.authenticate()', () => {
  it.each([
    ['no header', []],
    ['a malformed header', ['Authorization', 'other-key']],
    ['an unknown key', bearer('nobody')],
    ['a key whose time has not come', bearer('new-key')],
    ['a token where there are no issuers', bearer('eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln')],
    ['two headers', [...bearer('other-key'), ...bearer('other-key')]],
    ['the key in another header', ['x-api-key', 'other-key', 'api-key', 'other-key']],
  ])('refuses %s with one and the same text', async (_, rawHeaders) => {
    const answer = authenticator.authenticate({ rawHeaders, address: '192.0.2.1' });
    await expect(answer).rejects.toThrow(new InvalidApiKeyError('whatever'));
  });

  it('takes everybody for anonymous while no callers are configured', async () => {
    const open = authenticatorOf([]);
    for (const rawHeaders of [[], bearer('whatever'), ['Authorization', 'nonsense']]) {
      expect(await open.authenticate({ rawHeaders, address: '127.0.0.1' })).toBe(ANONYMOUS);
    }
  });

  it('takes the old key, both, and then the new one: a rotation without a gap', async () => {
    const both = async (): Promise<string[]> => [await enter('old-key'), await enter('new-key')];
    expect(await both()).toEqual(['acme', 'invalid_api_key']);
    now = START + HOUR_MS;
    expect(await both()).toEqual(['acme', 'acme']);
    now = START + 2 * HOUR_MS;
    expect(await both()).toEqual(['invalid_api_key', 'acme']);
  });
});

describe('Authenticator, where keys are tried', () => {
  const guess = async (times: number, address?: string): Promise<string[]> => {
    const answers: string[] = [];
    for (let index = 0; index < times; index += 1) answers.push(await enter(`guess-${String(index)}`, address));
    return answers;
  };

  it('answers 429 after a while, and does not tell whether a key is good', async () => {
    expect(new Set(await guess(TOLERATED_GUESSES))).toEqual(new Set(['invalid_api_key']));
    expect([await enter('guess'), await enter('other-key')]).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded']);
    const answer = authenticator.authenticate({ rawHeaders: bearer('guess'), address: '192.0.2.1' });
    await expect(answer).rejects.toMatchObject({ retryAfterMs: FORGET_ONE_MS });
    now += FORGET_ONE_MS;
    expect(await enter('other-key')).toBe('other');
  });

  it('never locks out a key at another address', async () => {
    await guess(200);
    expect(await enter('other-key', '192.0.2.2')).toBe('other');
    expect(await enter('old-key', '2001:db8::1')).toBe('acme');
  });

  it('goes on serving a key that was used at that address before', async () => {
    expect(await enter('other-key')).toBe('other');
    await guess(200);
    expect([await enter('other-key'), await enter('old-key')]).toEqual(['other', 'rate_limit_exceeded']);
  });

  it('counts the addresses of one IPv6 network as one', async () => {
    for (let index = 0; index < TOLERATED_GUESSES; index += 1) await enter('guess', `2001:db8::${index.toString(16)}`);
    expect(await enter('other-key', '2001:db8::ffff')).toBe('rate_limit_exceeded');
    expect(await enter('other-key', '2001:db8:0:1::1')).toBe('other');
  });

  it('does not count requests without a key', async () => {
    for (let index = 0; index < 100; index += 1) {
      await expect(authenticator.authenticate({ rawHeaders: [], address: '192.0.2.1' })).rejects.toThrow();
    }
    expect(await enter('other-key')).toBe('other');
  });

  it('tells the operator once, without the keys', async () => {
    await guess(200);
    expect(log.records).toMatchObject([{ level: 'warn', client: '192.0.2.1' }]);
    expect(log.text).not.toContain('guess-');
  });
});
