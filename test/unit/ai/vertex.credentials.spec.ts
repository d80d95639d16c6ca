import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TokenSource, tokenSource } from '../../../src/ai/upstream/vertex/google.credentials.js';
import { TokenError } from '../../../src/ai/upstream/vertex/token.error.js';
import {
  granting,
  PRIVATE_KEY,
  serviceAccount,
  startTokenServer,
  tokenJson,
  type TokenServer,
} from '../../support/fakes/vertex.tokens.js';

let server: TokenServer;
beforeEach(async () => {
  server = await startTokenServer(granting((count) => `token-${String(count)}`));
});
afterEach(() => server.close());

const sourceOf = (credentials = serviceAccount(server.origin)): TokenSource => tokenSource(credentials, 'p1');

describe('a failure to get an access token', () => {
  const failureOf = async (credentials?: string): Promise<TokenError> => {
    const failure: unknown = await sourceOf(credentials)().catch((error: unknown) => error);
    if (!(failure instanceof TokenError)) throw new Error('it did not fail as it should', { cause: failure });
    return failure;
  };

  it.each([
    [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, true, 'status 400, invalid_grant'],
    [401, { error: 'invalid_client' }, true, 'status 401, invalid_client'],
    [403, {}, true, 'status 403'],
    [429, {}, false, 'status 429'],
    [500, { error: { code: 500 } }, false, 'status 500'],
    [503, {}, false, 'status 503'],
  ])('of status %s is asked for once, and is told with its code', async (status, body, isRefused, words) => {
    server.play((_, response) => {
      tokenJson(response, status, body);
    });
    const failure = await failureOf();
    expect(failure.isRefused).toBe(isRefused);
    expect(failure.message).toBe(`answered with ${words}`);
    expect(server.requests).toHaveLength(1);
  });

  it('of the network is not the fault of the credentials', async () => {
    server.play((_, response) => {
      response.socket?.resetAndDestroy();
    });
    expect(await failureOf()).toMatchObject({ isRefused: false });
    expect(server.requests).toHaveLength(1);
    expect(await failureOf(serviceAccount('http://127.0.0.1:9'))).toMatchObject({ isRefused: false });
  });

  it.each([
    ['one request', { requestMs: 500, totalMs: 60_000 }, 'nobody could be asked'],
    ['all of them', { requestMs: 60_000, totalMs: 1_500 }, 'no answer came in time'],
  ])('is a silence that is longer than what %s may take', async (_, patience, words) => {
    // Or else the library's loading is a part of the time.
    await import('google-auth-library');
    server.play(() => undefined);
    const failure: unknown = await tokenSource(serviceAccount(server.origin), 'p1', patience)().catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ isRefused: false, message: expect.stringContaining(words) });
    expect(server.requests).toHaveLength(1);
  });

  it('is where the credentials are sent elsewhere: nobody follows', async () => {
    const other = await startTokenServer(granting(() => 'token'));
    server.play((_, response) => {
      response.writeHead(307, { location: `${other.origin}/token` }).end();
    });
    expect(await failureOf()).toMatchObject({ isRefused: false });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it.each([
    ['no token', { expires_in: 3_600 }],
    ['something else', 'nothing'],
  ])('is an answer with %s', async (_, body) => {
    server.play((_request, response) => {
      tokenJson(response, 200, body as object);
    });
    expect(await failureOf()).toMatchObject({ isRefused: false, message: 'no token came' });
  });

  it('is a key that is none', async () => {
    expect(await failureOf(serviceAccount(server.origin, { private_key: 'no key' }))).toMatchObject({
      isRefused: true,
    });
    expect(server.requests).toEqual([]);
  });

  it('shows nothing of the credentials', async () => {
    server.play(({ text }, response) => {
      tokenJson(response, 400, { error: text, error_description: `${text} ${PRIVATE_KEY}` });
    });
    const failure = await failureOf();
    const assertion = new URLSearchParams(server.requests[0]?.text).get('assertion') ?? '';
    const shown = inspect(failure, { depth: 10, showHidden: true });
    expect(assertion.length).toBeGreaterThan(100);
    for (const secret of [assertion, PRIVATE_KEY, PRIVATE_KEY.split('\n')[1] ?? ''])
      expect(shown).not.toContain(secret);
  });
});

describe('other credentials', () => {
  it('may be an access token of somebody else, which is taken to last', async () => {
    await expect(sourceOf('ya29.own')()).resolves.toEqual({
      token: 'ya29.own',
      headers: {},
      expiresAt: Number.POSITIVE_INFINITY,
    });
    expect(server.requests).toEqual([]);
  });

  describe('of the machine (adc)', () => {
    const before = { ...process.env };
    beforeEach(() => {
      process.env['GCE_METADATA_HOST'] = server.origin.replace('http://', '');
      process.env['CLOUDSDK_CONFIG'] = '/nowhere';
      process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
      delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
    });
    afterEach(() => {
      for (const name of ['GCE_METADATA_HOST', 'CLOUDSDK_CONFIG', 'METADATA_SERVER_DETECTION']) {
        const value = before[name];
        if (value === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = value;
      }
    });

    it('come from its metadata server', async () => {
      server.play((_, response) => {
        const token = { access_token: 'machine-token', expires_in: 3_599, token_type: 'Bearer' };
        tokenJson(response, 200, token, { 'metadata-flavor': 'Google' });
      });
      await expect(sourceOf('adc')()).resolves.toMatchObject({ token: 'machine-token' });
      expect(server.requests.map(({ path }) => path.split('?')[0])).toEqual([
        '/computeMetadata/v1/instance/service-accounts/default/token',
      ]);
      expect(server.requests[0]?.headers).toMatchObject({ 'metadata-flavor': 'Google' });
    });

    it('are no refusal where there are none: the machine may have them the next time', async () => {
      process.env['METADATA_SERVER_DETECTION'] = 'none';
      const source = sourceOf('adc');
      await expect(source()).rejects.toMatchObject({
        isRefused: false,
        message: expect.stringContaining('no credentials to ask with'),
      });
      expect(server.requests).toEqual([]);
    });
  });
});
