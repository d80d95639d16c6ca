import { toggle, wholeOrZero, zeroOrMore } from './checks.js';
import { Optional } from './shape.js';

const MOST_USD = 1_000_000_000;

/** What a caller may spend, UTC days and months. */
export class BudgetFile {
  @Optional(zeroOrMore(MOST_USD))
  usdPerDay?: number;

  @Optional(zeroOrMore(MOST_USD))
  usdPerMonth?: number;

  /** Tokens of prompts and answers. */
  @Optional(wholeOrZero)
  tokensPerDay?: number;

  @Optional(wholeOrZero)
  tokensPerMonth?: number;

  /** True: refused before it is exceeded, and every call carries max_tokens. */
  @Optional(toggle)
  hard = false;
}
