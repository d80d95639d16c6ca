import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK } from 'jose';
import { FRESH_MS, IssuerKeys, REFETCH_MS, STALE_MS } from '../../../src/auth/issuer.keys.js';
import type { KeySet } from '../../../src/auth/jwks.source.js';

const TOKEN = { payload: '', signature: '' };

async function publicKey(kid: string): Promise<JWK> {
  const { publicKey: key } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(key)), kid, alg: 'ES256' };
}

describe('IssuerKeys.find()', () => {
  let now: number;
  let published: JWK[];
  let isAway: boolean;
  let fetches: number;
  let failures: unknown[];
  let keys: IssuerKeys;

  beforeEach(async () => {
    [now, isAway, fetches, failures, published] = [0, false, 0, [], [await publicKey('one')]];
    keys = new IssuerKeys({
      fetch: () => {
        fetches += 1;
        return isAway
          ? Promise.reject(new Error('away'))
          : Promise.resolve<KeySet>(createLocalJWKSet({ keys: published }));
      },
      elapsed: () => now,
      onFailure: (error) => failures.push(error),
    });
  });

  const find = async (kid: string): Promise<string> => {
    try {
      await keys.find({ alg: 'ES256', kid }, TOKEN);
      return 'found';
    } catch (error) {
      return error instanceof Error ? error.name : '';
    }
  };

  it('fetches once for everybody who comes, and not again while the keys are fresh', async () => {
    expect(await Promise.all([find('one'), find('one'), find('one')])).toEqual(['found', 'found', 'found']);
    now = FRESH_MS;
    expect(await find('one')).toBe('found');
    expect(fetches).toBe(1);
    now += 1;
    expect(await find('one')).toBe('found');
    expect(fetches).toBe(2);
  });

  it('fetches again for a key that it does not know, at most so often whatever is asked for', async () => {
    await find('one');
    now += REFETCH_MS;
    published = [await publicKey('two')];
    expect(await find('two')).toBe('found');
    expect(await find('one')).toBe('JWKSNoMatchingKey');
    expect(fetches).toBe(2);
    for (let second = 0; second < 60; second += 1) {
      now += 1_000;
      await Promise.all(Array.from({ length: 20 }, (_, index) => find(`made-up-${String(index)}`)));
    }
    expect(fetches).toBeLessThanOrEqual(2 + 60_000 / REFETCH_MS);
  });

  it('goes on with the keys that it has while the issuer is away, for a day', async () => {
    await find('one');
    isAway = true;
    now = FRESH_MS + 1;
    expect(await find('one')).toBe('found');
    expect(failures).toHaveLength(1);
    now = STALE_MS;
    expect(await find('one')).toBe('found');
    now += 1;
    expect(await find('one')).toBe('TokensUnavailableError');
    isAway = false;
    now += REFETCH_MS;
    expect(await find('one')).toBe('found');
  });

  it('says when it will ask again where it has no keys', async () => {
    isAway = true;
    await keys.warm();
    now += 4_000;
    await expect(keys.find({ alg: 'ES256', kid: 'one' }, TOKEN)).rejects.toMatchObject({
      code: 'overloaded',
      retryAfterMs: REFETCH_MS - 4_000,
    });
    expect(fetches).toBe(1);
  });
});
