import { wholeOf } from '../topics/fields.js';
import { historyOf, type LatencySample, latencyTopic } from '../topics/latency.topic.js';
import { type LinePorts, TopicLine } from '../view/topic.line.js';

/** A model, and its limit until enough is known. */
export interface TimedModel {
  readonly name: string;
  /** Of the settings, ms. */
  readonly firstTokenMs: number;
}

/** What is known of a model. */
export interface LatencyCard {
  /** From sending to the first token, ms; undefined: not enough samples. */
  readonly meanFirstTokenMs?: number;
  readonly tokensPerSecond?: number;
  /** The limit for streams, ms. */
  readonly firstTokenLimitMs: number;
}

/** So many samples make a history. */
export const ENOUGH_SAMPLES = 20;
const MEANS = 2.5;
/** Bounds of a learned limit, ms. */
const LEAST_LIMIT_MS = 5_000;
const MOST_LIMIT_MS = 120_000;
/** Until it is learned; slower than every model we know of, so that nothing is cut short. */
const ASSUMED_TOKENS_PER_SECOND = 20;

/**
 * How long calls take, by model, from the last 100 of all pods, and from that how long to wait for the next one.
 *
 * Calls that were given up are censored: they would have taken longer, nobody knows how much. Left out, they would leave the fast
 * ones only, and the limit would close in on itself. So the mean is the maximum-likelihood one for censored times: all the time that
 * was waited, over the number of calls that were answered. Each call given up moves the limit up, and where most are given up it
 * moves up to its bound. In the same way the rate is all tokens over all the time it took, in which a call given up has none.
 */
export class Latencies {
  readonly line: TopicLine<readonly LatencySample[], LatencySample>;
  readonly #defaults: ReadonlyMap<string, number>;

  constructor(models: readonly TimedModel[], ports: LinePorts) {
    const histories = models.flatMap(({ name }) => [historyOf(name, 'stream'), historyOf(name, 'json')]);
    this.line = new TopicLine(latencyTopic, histories, ports);
    this.#defaults = new Map(models.map(({ name, firstTokenMs }) => [name, firstTokenMs]));
  }

  /** A stream sent its first token. */
  streamed(model: string, firstTokenMs: number): void {
    this.#note(historyOf(model, 'stream'), { ms: firstTokenMs, tokens: 0, isCensored: false });
  }

  /** A whole answer was there. */
  answered(model: string, totalMs: number, completionTokens: number): void {
    this.#note(historyOf(model, 'json'), { ms: totalMs, tokens: completionTokens, isCensored: false });
  }

  /** A call was given up because it took longer than this; only for what our own first-token or answer limit ended. */
  timedOut(model: string, kind: 'stream' | 'json', waitedMs: number): void {
    this.#note(historyOf(model, kind), { ms: waitedMs, tokens: 0, isCensored: true });
  }

  /** How long a stream's first token may take while another candidate is left: 2.5 means, at least 5 s; before that the model's own. */
  firstTokenLimitMs(model: string): number {
    const mean = this.#meanFirstTokenMs(model);
    if (mean === undefined) return this.#defaultOf(model);
    return Math.min(Math.max(Math.ceil(MEANS * mean), LEAST_LIMIT_MS), MOST_LIMIT_MS);
  }

  /** How long a whole answer may take while another candidate is left: a first token, and then so many tokens at the learned rate. */
  answerLimitMs(model: string, maxTokens: number): number {
    const rate = this.#tokensPerSecond(model) ?? ASSUMED_TOKENS_PER_SECOND;
    return Math.ceil(this.firstTokenLimitMs(model) + (Math.max(0, maxTokens) / rate) * 1_000);
  }

  of(model: string): LatencyCard {
    const meanFirstTokenMs = this.#meanFirstTokenMs(model);
    const tokensPerSecond = this.#tokensPerSecond(model);
    return {
      firstTokenLimitMs: this.firstTokenLimitMs(model),
      ...(meanFirstTokenMs !== undefined && { meanFirstTokenMs }),
      ...(tokensPerSecond !== undefined && { tokensPerSecond }),
    };
  }

  #meanFirstTokenMs(model: string): number | undefined {
    const samples = this.#enough(historyOf(model, 'stream'));
    return (
      samples &&
      sum(samples, ({ ms }) => ms) /
        Math.max(
          1,
          sum(samples, (sample) => (sample.isCensored ? 0 : 1)),
        )
    );
  }

  /** Undefined also where not one token came in all that time. */
  #tokensPerSecond(model: string): number | undefined {
    const samples = this.#enough(historyOf(model, 'json'));
    const tokens = samples && sum(samples, (sample) => sample.tokens);
    return tokens ? (tokens / sum(samples, ({ ms }) => ms)) * 1_000 : undefined;
  }

  #enough(history: string): readonly LatencySample[] | undefined {
    const samples = this.line.bodyOf(history);
    return samples !== undefined && samples.length >= ENOUGH_SAMPLES ? samples : undefined;
  }

  #note(history: string, { ms, tokens, isCensored }: LatencySample): void {
    this.line.note(history, { ms: Math.max(1, wholeOf(ms)), tokens: wholeOf(tokens), isCensored });
  }

  #defaultOf(model: string): number {
    return this.#defaults.get(model) ?? LEAST_LIMIT_MS;
  }
}

function sum<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}
