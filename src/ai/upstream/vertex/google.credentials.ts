import type { AuthClient, JWTInput } from 'google-auth-library';
import { parseObject } from '../../wire/json-value.js';
import type { AccessToken } from './access-tokens.js';
import { TokenError } from './token.error.js';
import { tokenTransport } from './token.transport.js';

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform'];
/** Longer than any token lives: when one is renewed is decided here and not by the library. */
const ALWAYS_MS = 86_400_000;
/** For credentials that do not say how long their token lives. */
const UNTOLD_LIFETIME_MS = 60_000;

export interface TokenPatience {
  /** The longest that one request for a token may take, ms. */
  readonly requestMs: number;
  /** The longest that it may take to get one, ms: some credentials are exchanged more than once. */
  readonly totalMs: number;
}

const PATIENCE: TokenPatience = { requestMs: 5_000, totalMs: 15_000 };

/** Gets a new access token every time it is called. @throws TokenError */
export type TokenSource = () => Promise<AccessToken>;

/**
 * The way to access tokens for one set of credentials: the JSON of a credentials file, `adc` for what the machine has, or a token that
 * somebody else renews, which is taken to last.
 *
 * @param projectId - whose models are called; the library would search the machine for it
 */
export function tokenSource(credentials: string, projectId: string, patience = PATIENCE): TokenSource {
  if (!credentials.startsWith('{') && credentials !== 'adc') return () => Promise.resolve(lasting(credentials));
  let client: Promise<AuthClient> | undefined;
  return async () => {
    try {
      client ??= clientFor(credentials, projectId, patience.requestMs);
      return await inTime(client.then(tokenOf), patience.totalMs);
    } catch (error) {
      // What was found may be gone, or what was missing be there: the next time it is looked for anew.
      client = undefined;
      throw TokenError.from(error, { isGiven: credentials !== 'adc' });
    }
  };
}

function lasting(token: string): AccessToken {
  return { token, headers: {}, expiresAt: Number.POSITIVE_INFINITY };
}

/** The library is loaded on first use: it is not small, and most installations never call Google. */
async function clientFor(credentials: string, projectId: string, timeoutMs: number): Promise<AuthClient> {
  const { gaxios, GoogleAuth, JWT } = await import('google-auth-library');
  const file = parseObject(credentials);
  const options = { eagerRefreshThresholdMillis: ALWAYS_MS, useAuthRequestParameters: false };
  if (file?.['type'] === 'service_account') {
    const { client_email: email, private_key: key, private_key_id: keyId, token_uri: tokenUrl } = stringsOf(file);
    return new JWT({
      ...options,
      ...(email !== undefined && { email }),
      ...(key !== undefined && { key }),
      ...(keyId !== undefined && { keyId }),
      scopes: SCOPES,
      transporter: tokenTransport(gaxios, { timeoutMs, tokenUrl, mayAskMetadata: false }),
      // The library asks Google's own address, whatever the file says.
      ...(tokenUrl !== undefined && { additionalClaims: { aud: tokenUrl } }),
    });
  }
  const clientOptions = { ...options, transporter: tokenTransport(gaxios, { timeoutMs, mayAskMetadata: true }) };
  const auth = new GoogleAuth({ scopes: SCOPES, projectId, clientOptions });
  if (file === undefined) return auth.getClient();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- it warns of files from strangers; this one is the operator's own
  return auth.fromJSON(fileOf(file), clientOptions);
}

/** The library's type for it has only optional members. */
function fileOf(file: object): JWTInput {
  return file;
}

function stringsOf(file: object): Readonly<Partial<Record<string, string>>> {
  return Object.fromEntries(
    Object.entries(file).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function tokenOf(client: AuthClient): Promise<AccessToken> {
  const headers = await client.getRequestHeaders();
  const token = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
  // The library makes a header of anything.
  if (token === undefined || token === 'undefined') throw new TokenError('no token came', { isRefused: false });
  const payer = headers.get('x-goog-user-project');
  return {
    token,
    headers: payer === null ? {} : { 'x-goog-user-project': payer },
    expiresAt: client.credentials.expiry_date ?? Date.now() + UNTOLD_LIFETIME_MS,
  };
}

/** Some of the library's ways have no time limit of their own. */
async function inTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new TokenError('no answer came in time', { isRefused: false }));
    }, ms);
    timer.unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
