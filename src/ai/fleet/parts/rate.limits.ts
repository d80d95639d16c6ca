import type { UpstreamHeaders } from '../../upstream/retry-after.js';
import { FLEET_LIMITS } from '../fleet.limits.js';
import { parseRateLimits } from '../rate-limit.headers.js';
import {
  type RateWindow,
  type RateWindows,
  WINDOW_UNITS,
  type WindowChange,
  windowTopic,
} from '../topics/window.topic.js';
import { NO_NEED, plus, type QuotaNeed } from '../quota.need.js';
import { type LinePorts, TopicLine } from '../view/topic.line.js';

/** One of a provider's rate limits, as its answers told it. */
export interface RateLimitCard {
  readonly unit: (typeof WINDOW_UNITS)[number];
  /** Undefined: not told. */
  readonly limit?: number;
  readonly remaining: number;
  /** Until it is full again, ms. */
  readonly resetMs: number;
}

/** Limits of a minute; undefined: none. */
export interface MinuteLimits {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
}

/** What is full again later than this is no minute's limit, ms. */
const LONGEST_RESET_MS = 61_000;
/** What a provider tells to be a smaller part of ours is a mistake, or of another length than a minute. */
const LEAST_PART = 0.01;
/** A limit is nearly used when so little of it is left, or one. */
const NEARLY = 0.01;

/**
 * The providers' own rate limits, by deployment: OpenAI and Anthropic count each model by itself, so what is left for one model
 * behind a key says nothing of another.
 */
export class RateLimits {
  readonly line: TopicLine<RateWindows, WindowChange>;
  /** Called after each answer that told limits, with its deployment. */
  onTold: (deployment: string) => void = () => undefined;
  /** What this process's calls take that no answer has told of yet. */
  readonly #untold = new Map<string, QuotaNeed>();

  constructor(
    deployments: Iterable<string>,
    private readonly ports: LinePorts,
  ) {
    this.line = new TopicLine(windowTopic, deployments, ports);
  }

  /** The headers of an answer, good or bad, just received. */
  told(deployment: string, headers: UpstreamHeaders): void {
    const { wall } = this.ports.clock;
    const limits = parseRateLimits(headers, wall);
    for (const { unit, limit = 0, remaining, resetAt } of limits) {
      this.line.note(deployment, { unit, limit, remaining, resetInMs: resetAt - wall });
    }
    if (limits.length > 0) this.onTold(deployment);
  }

  /** What its provider told lately, in whichever process, to be less a minute than ours; undefined: nothing is. */
  lowered(deployment: string, ours: MinuteLimits): MinuteLimits | undefined {
    const windows = this.line.peek(deployment);
    const requests = this.#lowered(windows?.requests, ours.requests);
    const tokens = this.#lowered(windows?.tokens, ours.tokens);
    return requests === undefined && tokens === undefined ? undefined : { requests, tokens };
  }

  /**
   * A call begins: until its answer tells what is left, it is counted here.
   *
   * @returns to be called when its answer is heard, or when it is over; a second time does nothing
   */
  begun(deployment: string, need: QuotaNeed): () => void {
    let isOver = false;
    this.#untold.set(deployment, plus(this.#untoldAt(deployment), need));
    return () => {
      if (isOver) return;
      isOver = true;
      this.#untold.set(deployment, plus(this.#untoldAt(deployment), need, -1));
    };
  }

  /** Those that are not full again yet. */
  of(deployment: string): readonly RateLimitCard[] {
    const { now } = this.ports.clock;
    return this.#live(deployment).map(([unit, { limit, remaining, resetAt }]) => ({
      unit,
      remaining,
      resetMs: resetAt - now,
      ...(limit > 0 && { limit }),
    }));
  }

  /** So little is left of one of them that the next calls would be refused, until it is full again. */
  isNearlyUsed(deployment: string, need = NO_NEED): boolean {
    const untold = this.#untoldAt(deployment);
    return this.#live(deployment).some(([unit, { limit, remaining }]) => {
      const left = remaining - amountOf(untold, unit);
      return left <= Math.max(1, limit * NEARLY) || left < amountOf(need, unit);
    });
  }

  /** What is left of the one that is used most, 0 to 1; 1 where nothing is known. */
  shareLeft(deployment: string): number {
    let least = 1;
    for (const [, { limit, remaining }] of this.#live(deployment)) {
      if (limit > 0) least = Math.min(least, remaining / limit);
    }
    return least;
  }

  #lowered(window: RateWindow | undefined, ours = 0): number | undefined {
    if (window === undefined || this.ports.clock.now >= window.saidAt + FLEET_LIMITS.toldMs) return undefined;
    const { limit, remaining, resetAt, saidAt } = window;
    const isPlausible =
      limit >= Math.max(1, LEAST_PART * ours) && remaining <= limit && resetAt - saidAt <= LONGEST_RESET_MS;
    return isPlausible && limit < ours ? limit : undefined;
  }

  #untoldAt(deployment: string): QuotaNeed {
    return this.#untold.get(deployment) ?? NO_NEED;
  }

  #live(deployment: string): readonly (readonly [RateLimitCard['unit'], RateWindow])[] {
    const windows = this.line.bodyOf(deployment);
    if (windows === undefined) return [];
    const { now } = this.ports.clock;
    const live: (readonly [RateLimitCard['unit'], RateWindow])[] = [];
    for (const unit of WINDOW_UNITS) {
      const window = windows[unit];
      if (window !== undefined && window.resetAt > now) live.push([unit, window]);
    }
    return live;
  }
}

function amountOf({ requests, promptTokens, outputTokens }: QuotaNeed, unit: RateLimitCard['unit']): number {
  switch (unit) {
    case 'requests':
      return requests;
    case 'tokens':
      return promptTokens + outputTokens;
    case 'input-tokens':
      return promptTokens;
    case 'output-tokens':
      return outputTokens;
  }
}
