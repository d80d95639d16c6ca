import { zeroOrMore } from './checks.js';
import { Optional, Required } from './shape.js';

const MOST_USD = 100_000;

/** USD per million tokens. */
export class PricesFile {
  @Required(zeroOrMore(MOST_USD))
  input!: number;

  /** Input that the provider had cached; the price of input where it is left out, so that a bill is never guessed too low. */
  @Optional(zeroOrMore(MOST_USD))
  cachedInput?: number;

  /** Input that the provider wrote to its cache, where that has a price of its own; the price of input where it is left out. */
  @Optional(zeroOrMore(MOST_USD))
  cacheWrite?: number;

  /** Input that it wrote to its cache for an hour; the price of the other writes where it is left out. */
  @Optional(zeroOrMore(MOST_USD))
  cacheWrite1h?: number;

  @Required(zeroOrMore(MOST_USD))
  output!: number;
}
