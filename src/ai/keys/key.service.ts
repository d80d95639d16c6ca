import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { ModelSettings } from '../../config/index.js';
import { WithLock } from '../../lock/index.js';
import { LOGGER, type Logger } from '../../observability/index.js';
import { Catalogue, type Deployment, type Upstream } from '../catalogue/catalogue.js';
import { Fleet, type QuotaNeed } from '../fleet/index.js';
import type { KeyKnowledge } from '../route/route.planner.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';
import { readUsageOf } from './usage.reader.js';

/** How often the keys are asked for, ms. */
const CHECK_EVERY_MS = 300_000;
/** How long the fleet is content with an answer: less than the time to the next round, ms. */
const CONTENT_FOR_MS = 240_000;
/** Until a key that was refused, or is used up, is tried again without a check that passes, ms. */
const PARK_MS = { refused: 300_000, quota: 900_000 } as const;
/** The same where nobody can be asked whether it is good again, ms. */
const PARK_UNCHECKED_MS = { refused: 60_000, quota: 900_000 } as const;

/**
 * Our keys: what each is worth by its provider's own word, which are out, and in which order several of them are used. What one pod
 * learns all know.
 */
@Injectable()
export class KeyService implements KeyKnowledge, OnApplicationBootstrap, OnModuleDestroy {
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** When each deployment last had its turn, counted in turns. */
  readonly #turns = new WeakMap<Deployment, number>();
  #turn = 0;

  constructor(
    private readonly http: HttpService,
    private readonly catalogue: Catalogue,
    private readonly fleet: Fleet,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The server does not wait for the answers. */
  onApplicationBootstrap(): void {
    this.checkAll();
    this.#timer = setInterval(() => {
      this.checkAll();
    }, CHECK_EVERY_MS).unref();
  }

  /** Before the locks are waited for: a check holds one. */
  onModuleDestroy(): void {
    clearInterval(this.#timer);
    this.#stopping.abort();
  }

  /** A key without a usage path is unrestricted, and so is one whose first check is on its way. */
  readonly isWorth = ({ upstream }: Deployment, model: ModelSettings): boolean => {
    const worth = this.fleet.keys.worthOf(upstream.keyId);
    return worth === undefined || this.catalogue.isAllowed(model, worth.tier);
  };

  isNearlyUsed({ id }: Deployment, need: QuotaNeed): boolean {
    return this.fleet.isNearlyUsed(id, need);
  }

  /** Within a provider; providers keep the order in which the model lists them. */
  rotate(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments;
    const groups = [...new Set(deployments.map(groupOf))];
    if (groups.length === deployments.length) return deployments;
    return groups.flatMap((group) => this.byShareLeft(deployments.filter((each) => groupOf(each) === group)));
  }

  /** Of each deployment by itself: how often another model's keys are taken makes no difference. */
  took(deployment: Deployment): void {
    this.#turn += 1;
    this.#turns.set(deployment, this.#turn);
  }

  /** A call failed because of the key: it is out until a check passes, at the latest after its time. */
  failed(upstream: Upstream, { code }: UpstreamFailure): void {
    const reason = code === 'insufficient_quota' ? 'quota' : 'refused';
    const parkMs = upstream.usagePath === undefined ? PARK_UNCHECKED_MS : PARK_MS;
    this.fleet.keys.park(upstream.keyId, reason, parkMs[reason]);
    if (reason === 'refused') this.check(upstream);
  }

  /** The key with the most left first; of equals the one whose turn is longest ago. */
  private byShareLeft(keys: readonly Deployment[]): readonly Deployment[] {
    return keys
      .map((key) => ({ key, share: Math.round(this.fleet.shareLeft(key.id) * 20), turn: this.#turns.get(key) ?? 0 }))
      .toSorted((a, b) => b.share - a.share || a.turn - b.turn)
      .map(({ key }) => key);
  }

  private checkAll(): void {
    for (const upstream of this.catalogue.upstreams()) this.check(upstream);
  }

  private check(upstream: Upstream): void {
    if (upstream.usagePath === undefined) return;
    this.ask(upstream, upstream.usagePath).catch((error: unknown) => {
      // The lock's store is away: whoever asks next asks again.
      this.logger.warn({ provider: upstream.name, key: upstream.keyId, err: error }, 'a key could not be checked');
    });
  }

  /** On one pod at a time, and not where another one has asked lately: the others read what it was told. */
  @WithLock((upstream: Upstream) => `key-check:${upstream.keyId}`, { onBusy: 'skip', template: 'key-check:{key}' })
  private async ask(upstream: Upstream, path: string): Promise<void> {
    await this.fleet.refresh();
    const isRefused = this.fleet.keys.parkingOf(upstream.keyId)?.reason === 'refused';
    const agoMs = this.fleet.keys.checkedAgoMs(upstream.keyId);
    if (!isRefused && agoMs !== undefined && agoMs < CONTENT_FOR_MS) return;
    await this.askProvider(upstream, path);
    // What it said is with the others before the next one may ask.
    await this.fleet.refresh();
  }

  private async askProvider(upstream: Upstream, path: string): Promise<void> {
    const { name: provider, keyId: key } = upstream;
    try {
      const answer = await readUsageOf(this.http, upstream, path, this.#stopping.signal);
      if (answer.kind === 'refused') this.refused(upstream, answer.status);
      else if (answer.kind === 'worth') this.known(upstream, answer);
      else this.untold(upstream, answer.status);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.fleet.keys.unreachable(key);
      this.logger.warn({ provider, key, err: error }, 'the provider could not be asked about our key');
    }
  }

  /** A provider that has no such path restricts nothing; any other answer is none. */
  private untold({ name: provider, keyId: key }: Upstream, status: number): void {
    if (status !== 404) this.fleet.keys.unreachable(key);
    this.logger.warn({ provider, key, status }, 'the provider does not tell what our key is worth');
  }

  private refused({ name: provider, keyId: key }: Upstream, status: number): void {
    // Longer than until the next check: it is out until one passes.
    this.fleet.keys.park(key, 'refused', 2 * CHECK_EVERY_MS);
    this.logger.error({ provider, key, status }, 'the provider refuses our key');
  }

  private known(
    { name: provider, keyId: key }: Upstream,
    { tier, remaining, unit }: Extract<Awaited<ReturnType<typeof readUsageOf>>, { kind: 'worth' }>,
  ): void {
    this.fleet.keys.checked(key, {
      tier,
      ...(remaining !== undefined && { remaining }),
      ...(unit !== undefined && { unit }),
    });
    // A key that its provider knows, but that has nothing left, is as good as it was before.
    if (remaining !== 0 || this.fleet.keys.parkingOf(key)?.reason === 'refused') this.fleet.keys.unpark(key);
    this.logger.info(
      { provider, key, tier, ...(remaining !== undefined && { remaining }) },
      'the provider knows our key',
    );
  }
}

function groupOf({ provider, model }: Deployment): string {
  return `${provider}/${model}`;
}
