import type { Readable } from 'node:stream';
import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Tier, TIERS } from '../../config/index.js';
import { LOGGER, type Logger } from '../../observability/index.js';
import { Catalogue, type Upstream } from '../catalogue/catalogue.js';
import { member, parseObject } from '../wire/json-value.js';
import { readText } from './body.reader.js';

/** What a provider said of our key when it was last asked. */
export type KeyState = 'in use' | 'key refused';

const CONNECT_MS = 3_000;
const PATIENCE_MS = 10_000;

/**
 * Asks every provider with a usage path once, at boot, what it thinks of our key, so that a bad key is a loud line at boot and not
 * a failed call later. The server does not wait for the answers.
 */
@Injectable()
export class KeyCheckService implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #states = new Map<string, KeyState>();
  readonly #stopping = new AbortController();

  constructor(
    private readonly http: HttpService,
    private readonly catalogue: Catalogue,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    for (const upstream of this.catalogue.upstreams()) void this.check(upstream);
  }

  onApplicationShutdown(): void {
    this.#stopping.abort();
  }

  stateOf(provider: string): KeyState {
    return this.#states.get(provider) ?? 'in use';
  }

  private async check(upstream: Upstream): Promise<void> {
    if (upstream.usagePath === undefined) return;
    const provider = upstream.name;
    try {
      const { status, usage } = await this.ask(upstream, upstream.usagePath);
      if (status === 401 || status === 403) {
        this.#states.set(provider, 'key refused');
        this.logger.error({ provider, status }, 'the provider refuses our key');
      } else if (status === 200 && usage !== undefined) {
        this.logger.info({ provider, ...usage }, 'the provider knows our key');
      } else {
        this.logger.warn({ provider, status }, 'the provider does not tell what our key is worth');
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.logger.warn({ provider, err: error }, 'the provider could not be asked about our key');
    }
  }

  private async ask(
    { baseUrl, apiKey }: Upstream,
    path: string,
  ): Promise<{ status: number; usage: KeyUsage | undefined }> {
    const answer = await this.http.axiosRef.get<Readable>(`${baseUrl}${path}`, {
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
      timeout: CONNECT_MS,
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    const text = await readText(answer.data, () => undefined);
    return { status: answer.status, usage: readKeyUsage(parseObject(text)) };
  }
}

interface KeyUsage {
  readonly tier?: Tier;
  readonly remaining?: number;
}

/** Undefined for what tells neither. */
function readKeyUsage(value: unknown): KeyUsage | undefined {
  const tier = TIERS.find((name) => name === member(value, 'tier'));
  const remaining = member(value, 'remaining');
  if (tier === undefined && typeof remaining !== 'number') return undefined;
  return { ...(tier !== undefined && { tier }), ...(typeof remaining === 'number' && { remaining }) };
}
