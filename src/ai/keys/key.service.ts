import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { ModelSettings } from '../../config/index.js';
import { WithLock } from '../../lock/index.js';
import { LOGGER, type Logger } from '../../observability/index.js';
import { Catalogue, type Deployment, type Upstream } from '../catalogue/catalogue.js';
import { Fleet, type QuotaNeed } from '../fleet/index.js';
import type { KeyKnowledge } from '../route/route.planner.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';
import { byQuotaLeft } from './key.order.js';
import { readUsageOf, type UsageAnswer } from './usage.reader.js';

/** How often the keys are asked for, ms. */
const CHECK_EVERY_MS = 300_000;
/** How long the fleet is content with an answer: less than the time to the next round, ms. */
const CONTENT_FOR_MS = 240_000;
/** How long a key is taken for unrestricted that its provider was asked about and that nobody has said anything of yet, ms. */
const FIRST_WORD_MS = 2_000;
/** Until a key that is used up is tried again without a check that passes, ms. */
const USED_UP_MS = 900_000;

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

  /** A key without a usage path is unrestricted, and so is one whose first check has just begun: nobody waits for it. */
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
    const groups: Deployment[][] = [];
    for (const each of deployments) {
      const group = groups.find(([first]) => first?.provider === each.provider && first.model === each.model);
      if (group === undefined) groups.push([each]);
      else group.push(each);
    }
    return groups.length === deployments.length ? deployments : groups.flatMap((group) => this.byQuotaLeft(group));
  }

  /** Of each deployment by itself: how often another model's keys are taken makes no difference. */
  took(deployment: Deployment): void {
    this.#turn += 1;
    this.#turns.set(deployment, this.#turn);
  }

  /**
   * A call failed because of the key: it is out for its time. One that was refused is asked about at once; that its provider speaks well of it
   * does not bring it back sooner.
   */
  failed(upstream: Upstream, { code }: UpstreamFailure): void {
    if (code === 'insufficient_quota') this.fleet.keys.park(upstream.keyId, 'quota', USED_UP_MS);
    else if (this.fleet.keys.deny(upstream.keyId)) this.check(upstream);
  }

  private byQuotaLeft(deployments: readonly Deployment[]): readonly Deployment[] {
    if (deployments.length < 2) return deployments;
    const { keys, limits } = this.fleet;
    const cards = deployments.map((deployment) => {
      const { keyId } = deployment.upstream;
      return {
        deployment,
        limitShare: limits.shareLeft(deployment.id),
        quotaShare: keys.shareLeft(keyId),
        worth: keys.worthOf(keyId),
        turn: this.#turns.get(deployment) ?? 0,
      };
    });
    return byQuotaLeft(cards).map(({ deployment }) => deployment);
  }

  private checkAll(): void {
    for (const upstream of this.catalogue.upstreams()) this.check(upstream);
  }

  private check(upstream: Upstream): void {
    if (upstream.usagePath === undefined) return;
    const late = setTimeout(() => {
      this.assumeFree(upstream);
    }, FIRST_WORD_MS).unref();
    this.ask(upstream, upstream.usagePath)
      .catch((error: unknown) => {
        // The lock's store is away: whoever asks next asks again.
        this.logger.warn({ provider: upstream.name, key: upstream.keyId, err: error }, 'a key could not be checked');
        this.assumeFree(upstream);
      })
      .finally(() => {
        clearTimeout(late);
      });
  }

  /** Until its provider has said something: more than a free key has must not be asked of one that nobody has vouched for. */
  private assumeFree({ name: provider, keyId: key }: Upstream): void {
    if (this.fleet.keys.worthOf(key) !== undefined || this.#stopping.signal.aborted) return;
    this.fleet.keys.unreachable(key);
    this.logger.warn({ provider, key }, 'the provider has not told yet what our key is worth: it counts as free');
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
    { tier, remaining, unit, doubt }: Extract<UsageAnswer, { kind: 'worth' }>,
  ): void {
    const left = { ...(remaining !== undefined && { remaining }), ...(unit !== undefined && { unit }) };
    this.fleet.keys.checked(key, { tier, ...left });
    if (doubt !== undefined) {
      this.logger.warn({ provider, key, doubt }, 'what is left of our key could not be understood, and is not counted');
    }
    const parking = this.fleet.keys.parkingOf(key);
    // A key that its provider knows, but that has nothing left, is as good as it was before.
    const isGood = parking !== undefined && (remaining !== 0 || parking.reason === 'refused');
    if (isGood && parking.isByCall !== true) this.fleet.keys.unpark(key);
    this.logger.info({ provider, key, tier, ...left }, 'the provider knows our key');
  }
}
