import { oneOf, positive } from './checks.js';
import { Optional } from './shape.js';

export const ENCODINGS = ['o200k', 'claude', 'bytes'] as const;

/** How tokens are counted before the provider counts them. */
export class TokenizerFile {
  @Optional(oneOf(ENCODINGS))
  encoding: (typeof ENCODINGS)[number] = 'o200k';

  /** A factor on the encoding's count: above 1 where the real tokenizer makes more of the same text. */
  @Optional(positive(10))
  ratio = 1;
}
