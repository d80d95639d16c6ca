import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { REFETCH_MS } from '../../src/auth/issuer.keys.js';
import type { IssuerSettings } from '../../src/config/index.js';
import { createLogger } from '../../src/observability/index.js';
import { startAuthApp } from './auth-app.js';
import { callerWithKey } from './callers.js';
import { LogLines } from './log-lines.js';
import { AUDIENCE, type IssuerKey, issuerKey, TokenIssuer } from './token-issuer.js';

/** The key of the caller `acme`. */
export const ACME_KEY = 'key-of-the-backend-0123456789';
export const SKEW_S = 30;

type Answer = Awaited<ReturnType<NestFastifyApplication['inject']>>;

/** An issuer with the keys `ec` and `rsa`, and an application whose caller `web` its tokens speak for. Close it. */
export class TokenApp {
  readonly log = new LogLines();
  /** The application's clock for what it measures. */
  elapsed = 0;
  readonly #apps: NestFastifyApplication[] = [];

  private constructor(
    readonly issuer: TokenIssuer,
    readonly keys: readonly [ec: IssuerKey, rsa: IssuerKey],
  ) {}

  static async start(): Promise<TokenApp> {
    const keys: [IssuerKey, IssuerKey] = [await issuerKey('ec', 'ES256'), await issuerKey('rsa', 'RS256')];
    const rig = new TokenApp(await TokenIssuer.start(...keys), keys);
    await rig.another({});
    return rig;
  }

  /** One more application on the same issuer, with settings of its own. */
  async another(more: Partial<IssuerSettings>): Promise<NestFastifyApplication> {
    const settings: IssuerSettings = {
      issuer: this.issuer.name,
      jwksUrl: `${this.issuer.name}jwks`,
      audience: [AUDIENCE],
      algorithms: ['RS256', 'ES256'],
      types: ['jwt', 'at+jwt'],
      clockSkewMs: SKEW_S * 1_000,
      caller: 'web',
      subjects: [],
      ...more,
    };
    const callers = [callerWithKey(ACME_KEY), callerWithKey('', { name: 'web', keys: [], tier: 'free' })];
    const clock = { now: () => Date.now(), elapsed: () => this.elapsed };
    const logger = createLogger({ level: 'info', secrets: [] }, this.log);
    const app = await startAuthApp(callers, logger, { issuers: [settings], clock });
    this.#apps.push(app);
    return app;
  }

  /** As at first: keys may be fetched at once, and no guess is remembered. */
  reset(): void {
    this.elapsed += 100 * REFETCH_MS;
    this.issuer.answer = undefined;
    this.issuer.keys = this.keys;
    this.log.text = '';
  }

  /** Who the bearer is, by the first application or by another one. */
  ask(bearer: string, app = this.#apps[0]): Promise<Answer> {
    if (app === undefined) throw new Error('no application was started');
    return app.inject({ method: 'GET', url: '/whoami', headers: { authorization: `Bearer ${bearer}` } });
  }

  async close(): Promise<void> {
    for (const app of this.#apps) await app.close();
    await this.issuer.close();
  }
}
