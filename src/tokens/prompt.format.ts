import type { Encoding } from './token-counter.js';

/** What a provider's prompt holds beside the caller's text, in the encoding's tokens unless said otherwise. */
export interface PromptFormat {
  /** Around every message. */
  readonly messageTokens: number;
  /** For a message's `name`, beside the name itself. */
  readonly nameTokens: number;
  /** Primes the reply, once. */
  readonly primingTokens: number;
  /** Around one tool call, beside its name and arguments. */
  readonly toolCallTokens: number;
  /** Once where there are tools. */
  readonly toolsTokens: number;
  /** Around one tool's definition. */
  readonly toolTokens: number;
  /** For a value in a schema. */
  readonly jsonValueTokens: number;
  /** For the quotes and separators of a member or item in a schema. */
  readonly jsonEntryTokens: number;
  /** A picture at `detail: low`. Billed tokens, as the two below. */
  readonly lowDetailImageTokens: number;
  /** A picture at any other detail: the most that its size can come to. */
  readonly imageTokens: number;
  /** Sound or a file, whose content is not looked into. */
  readonly otherAttachmentTokens: number;
}

/**
 * OpenAI cookbook, "How to count tokens with tiktoken": exact for messages. For tools an upper bound on its formula, since schemas are counted as they
 * stand. Vision guide: 85 and 170 for each tile of 512 px, of which a picture is scaled down to at most eight (768 x 2,048).
 */
const OPENAI: PromptFormat = {
  messageTokens: 3,
  nameTokens: 1,
  primingTokens: 3,
  toolCallTokens: 10,
  toolsTokens: 8,
  toolTokens: 8,
  jsonValueTokens: 1,
  jsonEntryTokens: 2,
  lowDetailImageTokens: 85,
  imageTokens: 85 + 8 * 170,
  otherAttachmentTokens: 1_000,
};

/**
 * ai-tokenizer's constants, fitted to Anthropic's API: 6 for a request, 549 once for tools (at a ratio of 1.1; Anthropic documents 346 for Claude 4.5's own
 * tool prompt), 53 for each. Pictures: width x height / 750, of at most 1.15 megapixels, whatever the detail (Anthropic, vision guide).
 */
const ANTHROPIC: PromptFormat = {
  ...OPENAI,
  primingTokens: 6,
  toolsTokens: 500,
  toolTokens: 53,
  lowDetailImageTokens: 1_600,
  imageTokens: 1_600,
};

/** An unknown model's, in bytes: OpenAI's at three bytes a token, and the dearer picture. */
const UNKNOWN: PromptFormat = {
  ...ANTHROPIC,
  messageTokens: 3 * OPENAI.messageTokens,
  nameTokens: 3 * OPENAI.nameTokens,
  primingTokens: 3 * OPENAI.primingTokens,
  toolCallTokens: 3 * OPENAI.toolCallTokens,
  toolsTokens: 3 * OPENAI.toolsTokens,
  toolTokens: 3 * OPENAI.toolTokens,
  jsonValueTokens: 3 * OPENAI.jsonValueTokens,
  jsonEntryTokens: 3 * OPENAI.jsonEntryTokens,
};

export const PROMPT_FORMATS: Readonly<Record<Encoding, PromptFormat>> = {
  o200k: OPENAI,
  claude: ANTHROPIC,
  bytes: UNKNOWN,
};
