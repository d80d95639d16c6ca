import type { LatencyProfile, TokenizerSettings } from '../config/index.js';

/** One model as the simulator plays it. */
export interface SimulatedModel extends LatencyProfile {
  readonly name: string;
  /** Other names it answers to. */
  readonly aliases?: readonly string[];
  /** Tokens of prompt and reply together, enforced. */
  readonly contextWindow: number;
  /** Tokens; what `max_tokens` may ask for, and where a reply is cut without it. */
  readonly maxOutputTokens: number;
  /** True: the prompt alone must fit the window. Default false. */
  readonly separateInputLimit?: boolean;
  readonly tokenizer: TokenizerSettings;
}

export interface SimulatorOptions {
  /** At least one; names and aliases are unique. */
  readonly models: readonly SimulatedModel[];
  /** Loopback port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Divides the models' delays, > 0. Default 1; scripted delays are real milliseconds whatever it is. */
  readonly speed?: number;
  /** The same seed and the same request give the same reply. Default 1. */
  readonly seed?: number;
  /** Accepted Bearer keys; none or empty: every key and none is accepted. */
  readonly apiKeys?: readonly string[];
  /**
   * What each key may use of a model, by a name of the model or `*` for all others: `rpm=60,tpm=90000,requests=10/1s,concurrency=5,rule=safe`; see
   * docs/simulator.md. Default: no limits.
   */
  readonly limits?: Readonly<Record<string, string>>;
}

/** @throws RangeError naming the fault. */
export function checkOptions(options: SimulatorOptions): void {
  const { speed = 1, seed = 1 } = options;
  if (!Number.isFinite(speed) || speed <= 0) {
    throw new RangeError(`speed must be a positive number, got ${String(speed)}`);
  }
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`seed must be an integer, got ${String(seed)}`);
  }
  if (options.models.length === 0) {
    throw new RangeError('models must name at least one model');
  }
  for (const model of options.models) {
    if (!(model.tokensPerSecond > 0) || !(model.firstTokenMs >= 0)) {
      throw new RangeError(`model ${model.name}: tokensPerSecond must be positive and firstTokenMs not negative`);
    }
  }
}
