import { count, duration, instantOrSeconds, listOf, modelName, oneOf, text, toggle } from './checks.js';
import { DeploymentFile } from './deployment.file.js';
import { LimitsFile } from './limits.file.js';
import { Mapping, MappingList, Optional, Required } from './shape.js';
import { SimulatedFile } from './simulated.file.js';
import { TimeoutsFile } from './timeouts.file.js';
import { TokenizerFile } from './tokenizer.file.js';

const HOUR_MS = 3_600_000;

/** A model as callers know it, and who can answer for it. */
export class ModelFile {
  @Required(modelName)
  name!: string;

  /** Other names that callers may use. */
  @Optional(listOf(modelName))
  aliases: string[] = [];

  /** Release: a date or Unix seconds, as OpenAI's list shows it. */
  @Optional(instantOrSeconds)
  created: number | string = 0;

  /** Left out: the provider of the first deployment. */
  @Optional(text)
  ownedBy?: string;

  /** Tokens. */
  @Required(count)
  contextWindow!: number;

  /** Tokens. */
  @Required(count)
  maxOutputTokens!: number;

  /** True where the window holds the input alone. */
  @Optional(toggle)
  separateInputLimit = false;

  @Optional(toggle)
  supportsTemperature = true;

  @Mapping(() => TokenizerFile)
  tokenizer: TokenizerFile = new TokenizerFile();

  @Mapping(() => LimitsFile)
  limits: LimitsFile = new LimitsFile();

  @Mapping(() => TimeoutsFile)
  timeouts: TimeoutsFile = new TimeoutsFile();

  /** How long a slot stays with a call that gives no sign of life. */
  @Optional(duration(1_000, HOUR_MS))
  slotLeaseMs: number | string = '60s';

  /** How long a call waits for room before a fallback is looked at. */
  @Optional(duration(0, HOUR_MS))
  busyWaitMs: number | string = 0;

  /** What a call without max_tokens is taken to answer, tokens, until it has. */
  @Optional(count)
  expectedOutputTokens = 1_024;

  /** How long an answer is given again to the same request; 0: never. */
  @Optional(duration(0, 7 * 24 * HOUR_MS))
  cacheTtlMs: number | string = '300s';

  /** Models that may answer in its place, in order. */
  @Optional(listOf(modelName))
  fallbacks: string[] = [];

  /** Which deployment is tried first. */
  @Optional(oneOf(['listed', 'cheapest']))
  prefer: 'listed' | 'cheapest' = 'listed';

  @MappingList(() => DeploymentFile, 1)
  deployments!: DeploymentFile[];

  @Mapping(() => SimulatedFile)
  simulated: SimulatedFile = new SimulatedFile();
}
