import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { Agent } from 'undici';
import { guardedConnector } from '../egress/index.js';

/** Finds the key for a token's header. */
export type KeySet = JWTVerifyGetKey;

/** From the connection to the last byte, ms. */
const LONGEST_FETCH_MS = 3_000;
const MOST_BYTES = 262_144;
/** A token without a key id is tried with all of them. */
const MOST_KEYS = 64;

/**
 * Fetches public keys. Redirects are not followed and nothing is unpacked: what answers is what the configuration names, and it is as
 * long as it is. Close it.
 */
export class JwksSource {
  readonly #agent: Agent;

  /** @param privateHosts - hosts that may have private addresses although nothing in their names says so */
  constructor(privateHosts: ReadonlySet<string> = new Set()) {
    const connect = guardedConnector({ privateHosts });
    this.#agent = new Agent({ maxResponseSize: MOST_BYTES, connections: 2, connect });
  }

  /** @throws {Error} where there is no answer in time, or not a set of public keys */
  async fetch(url: string): Promise<KeySet> {
    const { origin, pathname, search } = new URL(url);
    const { statusCode, body } = await this.#agent.request({
      origin,
      path: pathname + search,
      method: 'GET',
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: AbortSignal.timeout(LONGEST_FETCH_MS),
    });
    if (statusCode !== 200) {
      await body.dump();
      throw new Error(`the keys' address answers with status ${String(statusCode)}`);
    }
    return keySetOf(await body.json());
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function keySetOf(answer: unknown): KeySet {
  if (!isKeySet(answer)) throw new Error("the keys' address answers with no set of keys");
  if (answer.keys.length > MOST_KEYS)
    throw new Error(`the keys' address answers with more than ${String(MOST_KEYS)} keys`);
  return createLocalJWKSet(answer);
}

/** Of the keys themselves jose takes those that fit. */
function isKeySet(answer: unknown): answer is JSONWebKeySet {
  if (typeof answer !== 'object' || answer === null || !('keys' in answer)) return false;
  return Array.isArray(answer.keys) && answer.keys.every((key: unknown) => typeof key === 'object' && key !== null);
}
