import { duration, positive } from './checks.js';
import { Optional } from './shape.js';

/** How the simulator plays a model. */
export class SimulatedFile {
  @Optional(duration(0, 600_000))
  firstTokenMs: number | string = '500ms';

  @Optional(positive(100_000))
  tokensPerSecond = 80;
}
