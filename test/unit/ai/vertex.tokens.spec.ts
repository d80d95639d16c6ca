import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AccessTokens } from '../../../src/ai/upstream/vertex/access-tokens.js';
import { tokenSource } from '../../../src/ai/upstream/vertex/google.credentials.js';
import { TokenError } from '../../../src/ai/upstream/vertex/token.error.js';
import {
  granting,
  serviceAccount,
  startTokenServer,
  tokenJson,
  type TokenServer,
} from '../../support/fakes/vertex.tokens.js';

const HOUR_MS = 3_600_000;
const never = (): AbortSignal => new AbortController().signal;

let server: TokenServer;
let now: number;
beforeEach(async () => {
  now = Date.now();
  server = await startTokenServer(granting((count) => `token-${String(count)}`));
});
afterEach(() => server.close());

const tokensOf = (credentials = serviceAccount(server.origin)): AccessTokens =>
  new AccessTokens(tokenSource(credentials, 'p1'), () => now);

/** Lets a renewal in the background come to its end. */
async function settled(tokens: AccessTokens, token: string): Promise<void> {
  const end = Date.now() + 5_000;
  while ((await tokens.get(never())).token !== token) {
    if (Date.now() > end) throw new Error(`${token} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('access tokens of a service account', () => {
  it('are asked for where its file says, once for all who need one at the same time', async () => {
    const tokens = tokensOf();
    const given = await Promise.all(Array.from({ length: 50 }, () => tokens.get(never())));
    expect(new Set(given.map(({ token }) => token))).toEqual(new Set(['token-1']));
    expect(server.requests.map(({ path }) => path)).toEqual(['/token']);
  });

  it('serve until shortly before their end', async () => {
    const tokens = tokensOf();
    await tokens.get(never());
    now += HOUR_MS - 400_000;
    await expect(tokens.get(never())).resolves.toMatchObject({ token: 'token-1' });
    expect(server.requests).toHaveLength(1);
  });

  it('are renewed ahead of their end, and nobody waits for it', async () => {
    const tokens = tokensOf();
    await tokens.get(never());
    now += HOUR_MS - 240_000;
    let answer: () => void = () => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    server.play((_, response) => {
      void mayAnswer.then(() => {
        tokenJson(response, 200, { access_token: 'token-2', expires_in: 7_200 });
      });
    });
    const given = await Promise.all(Array.from({ length: 20 }, () => tokens.get(never())));
    expect(new Set(given.map(({ token }) => token))).toEqual(new Set(['token-1']));
    answer();
    await settled(tokens, 'token-2');
    expect(server.requests).toHaveLength(2);
  });

  it('serve on where they could not be renewed, and are tried again after a pause', async () => {
    const tokens = tokensOf();
    await tokens.get(never());
    server.play((_, response) => {
      tokenJson(response, 503, {});
    });
    now += HOUR_MS - 240_000;
    for (let times = 0; times < 10; times += 1) {
      await expect(tokens.get(never())).resolves.toMatchObject({ token: 'token-1' });
    }
    const end = Date.now() + 5_000;
    while (server.requests.length < 2 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    await tokens.get(never());
    expect(server.requests).toHaveLength(2);
    server.play(granting(() => 'token-2', 7_200));
    now += 10_000;
    await settled(tokens, 'token-2');
  });

  it('are waited for once they have ended', async () => {
    const tokens = tokensOf();
    await tokens.get(never());
    now += HOUR_MS;
    server.play((_, response) => {
      tokenJson(response, 503, {});
    });
    await expect(tokens.get(never())).rejects.toBeInstanceOf(TokenError);
    server.play(granting(() => 'token-2', 7_200));
    await expect(tokens.get(never())).resolves.toMatchObject({ token: 'token-2' });
  });

  it('are not given out again once the provider does not take them', async () => {
    const tokens = tokensOf();
    const { token } = await tokens.get(never());
    tokens.discard('another');
    await expect(tokens.get(never())).resolves.toMatchObject({ token });
    tokens.discard(token);
    await expect(tokens.get(never())).resolves.toMatchObject({ token: 'token-2' });
  });

  it('are not waited for by those who leave, and still come for the others', async () => {
    let answer: () => void = () => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    const grant = granting(() => 'token-1');
    server.play((request, response) => {
      void mayAnswer.then(() => {
        grant(request, response);
      });
    });
    const tokens = tokensOf();
    const leaving = new AbortController();
    const reason = new Error('the caller has left');
    const left = expect(tokens.get(leaving.signal)).rejects.toBe(reason);
    const stays = tokens.get(never());
    leaving.abort(reason);
    await left;
    answer();
    await expect(stays).resolves.toMatchObject({ token: 'token-1' });
    await expect(tokens.get(leaving.signal)).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});
