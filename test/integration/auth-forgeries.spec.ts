import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { TokenApp } from '../support/token-app.js';
import { AUDIENCE, issuerKey } from '../support/token-issuer.js';

let rig: TokenApp;
beforeAll(async () => {
  rig = await TokenApp.start();
});
beforeEach(() => {
  rig.reset();
});
afterAll(() => rig.close());

const nowS = (): number => Math.floor(Date.now() / 1_000);

describe('a forged token', () => {
  const claims = () => ({ iss: rig.issuer.name, aud: AUDIENCE, sub: 'user-1', iat: nowS(), exp: nowS() + 300 });
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

  async function refused(token: string): Promise<void> {
    const response = await rig.ask(token);
    expect([token.length > 0, response.statusCode]).toEqual([true, 401]);
  }

  it('without a signature is refused', async () => {
    const unsecured = new UnsecuredJWT(claims()).encode();
    for (const token of [unsecured, `${unsecured}c2ln`, unsecured.slice(0, -1)]) await refused(token);
    for (const alg of ['none', 'None', 'NONE', '']) await refused(`${encode({ alg })}.${encode(claims())}.c2ln`);
  });

  it('signed by HMAC with the public key as the secret is refused', async () => {
    const [, rsa] = rig.keys;
    const publicKey = await importJWK(rsa.publicJwk, 'RS256', { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error('an RSA key was expected');
    const pem = await exportSPKI(publicKey);
    for (const secret of [pem, pem.trim(), JSON.stringify(rsa.publicJwk), rsa.publicJwk.n ?? '']) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const head = `${encode({ alg, kid: 'rsa', typ: 'JWT' })}.${encode(claims())}`;
        const mac = createHmac(alg.replace('HS', 'sha'), secret).update(head).digest('base64url');
        await refused(`${head}.${mac}`);
      }
    }
  });

  it('signed by a key that it brings along, or points to, is refused', async () => {
    const own = await issuerKey('ec');
    const { publicJwk } = own;
    for (const header of [{ jwk: publicJwk }, { jku: 'http://127.0.0.1:1/jwks' }, { x5u: 'http://127.0.0.1:1/x' }, {}])
      await refused(await rig.issuer.token({}, { key: own, header }));
  });

  it('that demands what is not understood is refused', async () => {
    const [ec] = rig.keys;
    const header = { alg: 'ES256', kid: 'ec', crit: ['exp-x'], 'exp-x': 1 };
    const token = new SignJWT(claims()).setProtectedHeader(header).sign(ec.privateKey, { crit: { 'exp-x': true } });
    await refused(await token);
  });

  it('signed by an algorithm that is not pinned is refused, however good it is', async () => {
    const key = await issuerKey('long', 'RS512');
    rig.issuer.keys = [...rig.keys, key];
    const wider = await rig.another({ algorithms: ['RS512'] });
    const token = await rig.issuer.token({}, { key });
    expect((await rig.ask(token, wider)).statusCode).toBe(200);
    await refused(token);
  });

  it('with another payload under a good signature is refused', async () => {
    const [head = '', , signature = ''] = (await rig.issuer.token()).split('.');
    await refused(`${head}.${encode({ ...claims(), sub: 'admin' })}.${signature}`);
    await refused(`${head}..${signature}`);
    await refused(`${head}.${encode([])}.${signature}`);
  });
});
