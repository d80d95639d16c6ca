import { generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type TokenScript = (request: TokenRequest, response: ServerResponse) => void;

/** Where Google's clients get their access tokens: the endpoint of OAuth, or the metadata server of a machine. */
export interface TokenServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly requests: TokenRequest[];
  /** Answers all requests from now on. */
  play(script: TokenScript): void;
  close(): Promise<void>;
}

export async function startTokenServer(script: TokenScript): Promise<TokenServer> {
  const requests: TokenRequest[] = [];
  let current = script;
  const server = createServer((request, response) => {
    void request.toArray().then((pieces: Buffer[]) => {
      const received = {
        path: request.url ?? '',
        headers: request.headers,
        text: Buffer.concat(pieces).toString(),
      };
      requests.push(received);
      current(received, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    requests,
    play: (next) => {
      current = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

export const PRIVATE_KEY = privateKey;
const EMAIL = 'coordinator@p1.iam.gserviceaccount.example';

/** The key file of a service account whose tokens come from `origin`. */
export function serviceAccount(origin: string, changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'p1',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: EMAIL,
    token_uri: `${origin}/token`,
    ...changes,
  });
}

/** Gives a token to whoever proves to be the service account (RFC 7523), and 400 to anybody else. */
export function granting(token: (count: number) => string, lifetimeS = 3_599): TokenScript {
  let count = 0;
  return ({ headers, text }, response) => {
    if (!isProven(text, `http://${headers.host ?? ''}/token`)) {
      tokenJson(response, 400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
      return;
    }
    count += 1;
    tokenJson(response, 200, { access_token: token(count), expires_in: lifetimeS, token_type: 'Bearer' });
  };
}

export function tokenJson(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function isProven(form: string, audience: string): boolean {
  const fields = new URLSearchParams(form);
  const [head = '', claims = '', signature = ''] = (fields.get('assertion') ?? '').split('.');
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, 'base64url'),
  );
  if (!isSigned || fields.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return false;
  const { iss, aud, scope, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const isMeant = iss === EMAIL && aud === audience && scope === 'https://www.googleapis.com/auth/cloud-platform';
  return isMeant && Number(exp) > Date.now() / 1_000;
}
