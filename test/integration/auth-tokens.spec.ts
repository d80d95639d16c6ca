import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { REFETCH_MS, STALE_MS } from '../../src/auth/issuer.keys.js';
import { ACME_KEY, SKEW_S, TokenApp } from '../support/token-app.js';
import { AUDIENCE, issuerKey } from '../support/token-issuer.js';

let rig: TokenApp;
beforeAll(async () => {
  rig = await TokenApp.start();
});
beforeEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

const ask = (bearer: string, ...at: [app?: NestFastifyApplication]) => rig.ask(bearer, ...at);
const nowS = (): number => Math.floor(Date.now() / 1_000);

describe('a token', () => {
  it.each([0, 1])('tells who calls, whichever of the pinned algorithms it has (%s)', async (index) => {
    const response = await ask(await rig.issuer.token({}, { key: rig.keys[index] }));
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      id: 'web',
      tier: 'free',
      scopes: ['chat'],
      weight: 3,
      limits: {},
      user: { issuer: rig.issuer.name, subject: 'user-1' },
    });
  });

  it('is asked for before a body is read, as a key is', async () => {
    const headers = { authorization: `Bearer ${await rig.issuer.token()}` };
    const app = await rig.another({});
    const good = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 }, headers });
    expect(good.json()).toEqual({ caller: 'web' });
    const bad = await app.inject({
      method: 'POST',
      url: '/echo',
      payload: { a: 1 },
      headers: { authorization: 'Bearer a.b.c' },
    });
    expect(bad.statusCode).toBe(401);
  });

  it.each([
    ['for several audiences', { aud: ['other', AUDIENCE] }, {}],
    ['of the type of access tokens', {}, { typ: 'application/at+JWT' }],
    ['of the type JWT', {}, { typ: 'JWT' }],
    ['that names no key', {}, { kid: undefined }],
    ['that ended within the skew', { exp: nowS() - SKEW_S + 20 }, {}],
    ['that begins within the skew', { nbf: nowS() + SKEW_S - 20, iat: nowS() + SKEW_S - 20 }, {}],
    ['that is long', { groups: Array.from({ length: 300 }, (_, index) => `group-${String(index)}`) }, {}],
  ])('counts %s', async (_, claims, header) => {
    expect((await ask(await rig.issuer.token(claims, { header }))).statusCode).toBe(200);
  });

  it.each([
    ['for another audience', { aud: 'other' }, {}],
    ['for nobody', { aud: undefined }, {}],
    ['of another issuer', { iss: 'https://evil.example' }, {}],
    ['of no issuer', { iss: undefined }, {}],
    ['about nobody', { sub: undefined }, {}],
    ['that has ended', { exp: nowS() - SKEW_S - 5 }, {}],
    ['that never ends', { exp: undefined }, {}],
    ['that has not begun', { nbf: nowS() + SKEW_S + 60 }, {}],
    ['from the future', { iat: nowS() + SKEW_S + 60 }, {}],
    ['of another type', {}, { typ: 'logout+jwt' }],
  ])('is refused as a wrong key is: %s', async (_, claims, header) => {
    const token = await rig.issuer.token(claims, { header });
    const [bad, wrongKey] = [await ask(token), await ask('wrong-key')];
    expect([bad.statusCode, bad.headers['www-authenticate'], bad.body]).toEqual([401, 'Bearer', wrongKey.body]);
  });

  it('is refused where the configuration wants it to be young', async () => {
    const strict = await rig.another({ maxAgeMs: 60_000 });
    const answers = [
      await ask(await rig.issuer.token({ iat: nowS() - 50 }), strict),
      await ask(await rig.issuer.token({ iat: nowS() - 60 - SKEW_S - 5 }), strict),
      await ask(await rig.issuer.token({ iat: undefined }), strict),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401, 401]);
  });

  it('says in the log, and there alone, why it was refused', async () => {
    rig.log.text = '';
    await ask(await rig.issuer.token({ aud: 'other' }));
    await ask(await rig.issuer.token({ exp: 1 }));
    const refusals = rig.log.records.map(({ refused }) => refused);
    expect(refusals).toEqual(['token: ERR_JWT_CLAIM_VALIDATION_FAILED aud', 'token: ERR_JWT_EXPIRED exp']);
  });
});

describe('the keys of an issuer', () => {
  it('roll over: a new key counts at once, and the old one for as long as it is published', async () => {
    const late = await issuerKey('late', 'RS256');
    const [old, young] = [await rig.issuer.token(), await rig.issuer.token({}, { key: late })];
    expect((await ask(young)).statusCode).toBe(401);
    rig.elapsed += REFETCH_MS;
    rig.issuer.keys = [...rig.keys, late];
    expect([(await ask(young)).statusCode, (await ask(old)).statusCode]).toEqual([200, 200]);
    rig.issuer.keys = [late];
    rig.elapsed += 100 * REFETCH_MS;
    expect([(await ask(young)).statusCode, (await ask(old)).statusCode]).toEqual([200, 401]);
  });

  it('are asked for no more often than that, whatever key ids are made up', async () => {
    await ask(await rig.issuer.token());
    rig.elapsed += REFETCH_MS;
    const before = rig.issuer.fetches;
    for (let index = 0; index < 50; index += 1)
      await ask(await rig.issuer.token({}, { header: { kid: `made-up-${String(index)}` } }));
    expect(rig.issuer.fetches - before).toBe(1);
  });

  it.each([
    ['an error', { status: 500, body: '' }],
    ['a redirect', { status: 302, body: '', headers: { location: '/elsewhere' } }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['no set of keys', { status: 200, body: '{"keys":["a"]}' }],
    ['too much', { status: 200, body: JSON.stringify({ keys: [], padding: 'x'.repeat(300_000) }) }],
    ['too many', { status: 200, body: JSON.stringify({ keys: Array.from({ length: 65 }, () => ({ kty: 'EC' })) }) }],
  ])(
    'that are answered with %s leave those that are here in force, and the callers of keys in peace',
    async (_, answer) => {
      expect((await ask(await rig.issuer.token())).statusCode).toBe(200);
      rig.issuer.answer = answer;
      rig.elapsed += 100 * REFETCH_MS;
      rig.log.text = '';
      expect((await ask(await rig.issuer.token())).statusCode).toBe(200);
      expect(rig.log.records[0]).toMatchObject({ level: 'warn', issuer: rig.issuer.name });
      rig.elapsed += STALE_MS;
      const late = await ask(await rig.issuer.token());
      expect([late.statusCode, late.json<{ error: object }>()]).toMatchObject([503, { error: { code: 'overloaded' } }]);
      expect((await ask(ACME_KEY)).json()).toMatchObject({ id: 'acme' });
    },
  );
});

describe('wrong tokens', () => {
  it('are damped as wrong keys are, good ones and keys that were used before are not', async () => {
    await ask(ACME_KEY);
    const forged = await rig.issuer.token({}, { key: await issuerKey('ec') });
    const answers: number[] = [];
    for (let index = 0; index < 30; index += 1) answers.push((await ask(forged)).statusCode);
    expect([answers[0], answers.at(-1)]).toEqual([401, 429]);
    expect((await ask(await rig.issuer.token())).statusCode).toBe(200);
    expect((await ask(ACME_KEY)).statusCode).toBe(200);
  });

  it('that have only ended are not counted', async () => {
    const ended = await rig.issuer.token({ exp: 1 });
    for (let index = 0; index < 30; index += 1) expect((await ask(ended)).statusCode).toBe(401);
  });
});
