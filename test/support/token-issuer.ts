import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A key pair of an issuer; the public half as it is published. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly algorithm: string;
}

export async function issuerKey(kid: string, algorithm = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' }, algorithm };
}

export const AUDIENCE = 'https://ai.example.com';

export interface TokenOptions {
  readonly header?: object;
  readonly key?: IssuerKey | undefined;
}

/** Signs tokens and publishes its keys on a loopback port. Close it. */
export class TokenIssuer {
  /** How often its keys were asked for. */
  fetches = 0;
  /** What it answers in place of its keys: a body, and its status and headers. */
  answer: { status: number; body: string; headers?: Record<string, string> } | undefined;

  private constructor(
    private readonly server: Server,
    /** What is published. */
    public keys: readonly IssuerKey[],
  ) {}

  static async start(...keys: readonly IssuerKey[]): Promise<TokenIssuer> {
    const server = createServer((_, response) => {
      issuer.fetches += 1;
      const { status, body, headers } = issuer.answer ?? { status: 200, body: issuer.jwks() };
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
    const issuer = new TokenIssuer(server, keys);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  /** Its `iss`. */
  get name(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}/`;
  }

  /** Its entry in the file. */
  entry(more: object = {}): object {
    return { issuer: this.name, jwksUrl: `${this.name}jwks`, audience: [AUDIENCE], ...more };
  }

  jwks(): string {
    return JSON.stringify({ keys: this.keys.map(({ publicJwk }) => publicJwk) });
  }

  /** A good token for five minutes, but for the claims, the header and the key that are given; what is undefined is left out. */
  token(claims: object = {}, { header = {}, key = this.keys[0] }: TokenOptions = {}): Promise<string> {
    if (key === undefined) throw new Error('the issuer has no key');
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: this.name, aud: AUDIENCE, sub: 'user-1', iat: now, exp: now + 300, ...claims };
    const protectedHeader = { alg: key.algorithm, kid: key.publicJwk.kid ?? '', ...header };
    return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
