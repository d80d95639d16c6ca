import { SecretFinder } from '../../observability/index.js';
import { member } from '../wire/json-value.js';

/** An error as a provider words it. */
export interface ProviderError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** Google's name for the cause (google.rpc.ErrorInfo). */
  readonly reason: string | undefined;
  /** The words of a moderator, which found the prompt to be against its rules (OpenRouter). */
  readonly isModerated: boolean;
  /** It is that of a provider behind this one, of which there are others for other models (OpenRouter). */
  readonly isForwarded: boolean;
}

const MESSAGE_LIMIT = 2_000;

/**
 * Reads an error in OpenAI's shape, and what is beside it at those who have taken it over.
 *
 * @param body - of an answer, parsed where it is JSON; Google's may come in a list
 * @param apiKey - taken out of the provider's words in whatever spelling: some quote what they were sent, and a caller reads it. One as
 * short as a word (`none`, for a server that wants no key) is no secret
 */
export function providerError(body: unknown, apiKey: string): ProviderError {
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  const error = member(whole, 'error') ?? whole;
  const secrets = new SecretFinder([apiKey]);
  const withoutKey = (words: string | undefined): string | undefined =>
    words === undefined ? undefined : secrets.redact(words);
  const said = (name: string): string | undefined => withoutKey(text(member(error, name)));
  // Words only from within the protocol: a page of HTML is no message.
  const message = said('message') ?? (error === whole ? undefined : withoutKey(text(error)));
  return {
    message: message?.slice(0, MESSAGE_LIMIT),
    type: said('type') ?? said('status')?.toLowerCase(),
    code: said('code'),
    param: said('param'),
    reason: reasonIn(member(error, 'details')),
    ...metadataOf(error),
  };
}

/** https://openrouter.ai/docs/api-reference/errors: of a moderator its reasons, of a provider its name and its own words. */
function metadataOf(error: unknown): Pick<ProviderError, 'isModerated' | 'isForwarded'> {
  const metadata = member(error, 'metadata');
  const isModerated = Array.isArray(member(metadata, 'reasons'));
  return { isModerated, isForwarded: !isModerated && typeof member(metadata, 'provider_name') === 'string' };
}

function reasonIn(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined;
  return text(details.map((detail: unknown) => member(detail, 'reason')).find((reason) => reason !== undefined));
}

function text(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
