import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose';
import type { IssuerSettings } from '../config/index.js';
import { InvalidApiKeyError, TokensUnavailableError } from './auth.errors.js';
import { AUTH_OPTIONS, type AuthClock, type AuthModuleOptions, SYSTEM_CLOCK } from './auth.module-definition.js';
import type { Caller } from './caller.js';
import { CallerRegistry } from './caller.registry.js';
import { IssuerKeys } from './issuer.keys.js';
import { JwksSource } from './jwks.source.js';
import { callerOfToken } from './token.caller.js';

/** JWS compact serialization (RFC 7515 section 7.1): header, payload and a signature, which is what tells it from `none`. */
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

interface Issuer {
  readonly settings: IssuerSettings;
  readonly keys: IssuerKeys;
}

/** Tells who calls from a JSON Web Token of one of the configured issuers. */
@Injectable()
export class TokenVerifier implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #source: JwksSource;
  readonly #clock: AuthClock;

  constructor(
    @Inject(AUTH_OPTIONS) { issuers = [], clock = SYSTEM_CLOCK, logger }: AuthModuleOptions,
    private readonly registry: CallerRegistry,
  ) {
    this.#clock = clock;
    const meant = issuers.filter(({ allowPrivate }) => allowPrivate === true);
    this.#source = new JwksSource(new Set(meant.map(({ jwksUrl }) => new URL(jwksUrl).hostname)));
    this.#issuers = new Map(
      issuers.map((settings) => [
        settings.issuer,
        {
          settings,
          keys: new IssuerKeys({
            fetch: () => this.#source.fetch(settings.jwksUrl),
            elapsed: () => clock.elapsed(),
            onFailure: (error) => {
              logger?.warn({ issuer: settings.issuer, err: error }, 'the keys of an issuer could not be fetched');
            },
          }),
        },
      ]),
    );
  }

  /** So that an operator sees at boot which issuer is out of reach. */
  onApplicationBootstrap(): void {
    for (const { keys } of this.#issuers.values()) void keys.warm();
  }

  onApplicationShutdown(): Promise<void> {
    return this.#source.close();
  }

  /** True where it is worth a try. */
  takes(bearer: string): boolean {
    return this.#issuers.size > 0 && TOKEN.test(bearer);
  }

  /**
   * Who the bearer is.
   *
   * @throws {InvalidApiKeyError} whatever is wrong with the token
   * @throws {TokensUnavailableError} where its issuer's keys are out of reach
   */
  async verify(token: string): Promise<Caller> {
    try {
      const { settings, keys } = this.#issuerOf(token);
      const { payload, protectedHeader } = await verifyWith(keys, token, this.#demandsOf(settings));
      this.#checkRest(payload, protectedHeader.typ, settings);
      return callerOfToken(payload, settings, (id) => this.registry.find(id));
    } catch (error) {
      if (error instanceof InvalidApiKeyError || error instanceof TokensUnavailableError) throw error;
      throw new InvalidApiKeyError(reasonOf(error), { cause: error });
    }
  }

  /** By what it says of itself, which is checked later. */
  #issuerOf(token: string): Issuer {
    const { iss } = decodeJwt(token);
    const issuer = typeof iss === 'string' ? this.#issuers.get(iss) : undefined;
    if (issuer === undefined) throw new InvalidApiKeyError('token: iss is not configured');
    return issuer;
  }

  #demandsOf({ issuer, audience, algorithms, clockSkewMs, maxAgeMs }: IssuerSettings): JWTVerifyOptions {
    return {
      issuer,
      audience: [...audience],
      algorithms: [...algorithms],
      clockTolerance: clockSkewMs / 1_000,
      currentDate: new Date(this.#clock.now()),
      requiredClaims: ['exp', 'sub'],
      ...(maxAgeMs !== undefined && { maxTokenAge: maxAgeMs / 1_000 }),
    };
  }

  /** What jose leaves open: a token from the future, and one of many types. */
  #checkRest({ iat }: JWTPayload, type: unknown, { types, clockSkewMs }: IssuerSettings): void {
    if (iat !== undefined && iat * 1_000 > this.#clock.now() + clockSkewMs)
      throw new InvalidApiKeyError('token: iat is in the future');
    // RFC 7515 section 4.1.9: the prefix may be left out.
    const name = typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : 'jwt';
    if (!types.includes(name)) throw new InvalidApiKeyError('token: typ is not configured');
  }
}

/** Several keys may fit a token that names none. */
async function verifyWith(
  { find }: IssuerKeys,
  token: string,
  demands: JWTVerifyOptions,
): Promise<Pick<JWTVerifyResult, 'payload' | 'protectedHeader'>> {
  try {
    return await jwtVerify(token, find, demands);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, demands);
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** jose's own code and the claim it is about: never a value from the token. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return `token: ${error.code} ${error.claim}`;
  return error instanceof errors.JOSEError ? `token: ${error.code}` : 'token: its key is of no use';
}
