import type { Tier } from '../caller.settings.js';
import { listOf, modelName } from './checks.js';
import { Required } from './shape.js';

/** Which models a caller of a tier may use. */
export class TiersFile implements Record<Tier, string[]> {
  @Required(listOf(modelName))
  free!: string[];

  @Required(listOf(modelName))
  pro!: string[];

  @Required(listOf(modelName))
  enterprise!: string[];
}
