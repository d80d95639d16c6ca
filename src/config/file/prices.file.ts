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

  @Required(zeroOrMore(MOST_USD))
  output!: number;
}
