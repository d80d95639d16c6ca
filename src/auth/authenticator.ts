import { Inject, Injectable } from '@nestjs/common';
import { errors } from 'jose';
import { InvalidApiKeyError, TooManyGuessesError } from './auth.errors.js';
import { AUTH_OPTIONS, type AuthModuleOptions, SYSTEM_CLOCK } from './auth.module-definition.js';
import { readBearerKey } from './bearer-key.js';
import type { Caller } from './caller.js';
import { ANONYMOUS, CallerRegistry, type KnownKey } from './caller.registry.js';
import { networkOf } from './client-address.js';
import { GuessDamper } from './guess.damper.js';
import { TokenVerifier } from './token.verifier.js';

/** What a request brings to show who sent it. */
export interface Credentials {
  /** Names and values in turn, as Node received them. */
  readonly rawHeaders: readonly string[];
  /** The client's IP address. */
  readonly address: string;
}

/** Tells who calls, by a key or by a token, and keeps those at bay who try keys. */
@Injectable()
export class Authenticator {
  readonly #damper: GuessDamper;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: AuthModuleOptions,
    private readonly registry: CallerRegistry,
    private readonly tokens: TokenVerifier,
  ) {
    const { clock = SYSTEM_CLOCK } = options;
    this.#damper = new GuessDamper(() => clock.elapsed());
  }

  /**
   * The caller whose key or token stands in the headers; {@link ANONYMOUS} whatever they hold while no callers are configured.
   *
   * @throws {InvalidApiKeyError} for one that is missing, malformed, repeated, overlong, unknown, not yet or no more good, all alike
   * @throws {TooManyGuessesError} where the address has presented too many wrong keys
   * @throws {TokensUnavailableError} where a token's issuer is out of reach
   */
  async authenticate({ rawHeaders, address }: Credentials): Promise<Caller> {
    if (this.registry.isOpen) return ANONYMOUS;
    const bearer = readBearerKey(rawHeaders);
    // Nothing is guessed by who presents nothing.
    if (bearer === undefined) throw new InvalidApiKeyError('none, or malformed');
    const key = this.registry.match(bearer);
    if (key === undefined && this.tokens.takes(bearer)) return this.#byToken(bearer, address);
    return this.#byKey(key, address);
  }

  #byKey(key: KnownKey | undefined, address: string): Caller {
    const client = networkOf(address);
    const waitMs = this.#damper.waitOf(client);
    // A good key that is new from here must wait as well: whoever tries keys would learn of it.
    if (waitMs > 0 && (key === undefined || !this.#damper.isProven(client, key.index)))
      throw new TooManyGuessesError(waitMs);
    const fault = this.#faultOf(key);
    if (key !== undefined && fault === undefined) {
      this.#damper.used(client, key.index);
      return key.caller;
    }
    this.#noteGuess(client);
    throw new InvalidApiKeyError(fault ?? 'unknown');
  }

  /** A signature cannot be guessed: tokens are looked at from everywhere, but wrong ones count as wrong keys do. */
  async #byToken(token: string, address: string): Promise<Caller> {
    try {
      return await this.tokens.verify(token);
    } catch (error) {
      if (!(error instanceof InvalidApiKeyError)) throw error;
      const client = networkOf(address);
      const waitMs = this.#damper.waitOf(client);
      if (waitMs > 0) throw new TooManyGuessesError(waitMs);
      // Every page that was open over night comes with one of those.
      if (!(error.cause instanceof errors.JWTExpired)) this.#noteGuess(client);
      throw error;
    }
  }

  #faultOf(key: KnownKey | undefined): string | undefined {
    if (key === undefined) return 'unknown';
    const { clock = SYSTEM_CLOCK } = this.options;
    const now = clock.now();
    if (now < key.notBefore) return 'key not yet good';
    return now < key.expires ? undefined : 'key no more good';
  }

  #noteGuess(client: string): void {
    if (this.#damper.missed(client)) this.options.logger?.warn({ client }, 'too many wrong keys come from one address');
  }
}
