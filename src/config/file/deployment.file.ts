import { instant, text } from './checks.js';
import { LimitsFile } from './limits.file.js';
import { PricesFile } from './prices.file.js';
import { Mapping, Optional, OptionalMapping, Required } from './shape.js';

/** One provider's offer of a model. */
export class DeploymentFile {
  /** A provider's name. */
  @Required(text)
  provider!: string;

  /** What the model is called there. */
  @Required(text)
  model!: string;

  /** Left out: unpriced, which callers with a hard budget cannot use. */
  @OptionalMapping(() => PricesFile)
  prices?: PricesFile;

  /** What this provider allows, besides the model's own limits. */
  @Mapping(() => LimitsFile)
  limits: LimitsFile = new LimitsFile();

  /** From then on the vendor answers no more. */
  @Optional(instant)
  shutdownDate?: string;

  /** What the vendor names in its place. */
  @Optional(text)
  successor?: string;
}
