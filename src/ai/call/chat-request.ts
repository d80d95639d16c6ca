import {
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  MaxLength,
  MinLength,
  ArrayMaxSize,
  ArrayMinSize,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { ApiError } from '../../http/index.js';
import { GuardedNames } from '../wire/guarded.names.js';
import { isObject } from '../wire/json-value.js';

/** Members that are this service's own and never reach a provider. */
export const OWN_MEMBERS = ['models', 'cache'] as const;

const KNOWN = [
  'model',
  'models',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'cache',
] as const;

/** What tiers, routes, limits and budgets go by: what is read here, and what prompts are counted by besides. */
export const GUARDED_MEMBERS = [...KNOWN, 'tools', 'functions', 'response_format'] as const;

const GUARDED_NAMES = new GuardedNames(GUARDED_MEMBERS);

/**
 * What this service itself reads of an OpenAI chat completion request. All other members pass through unread: the provider is the
 * judge of them.
 */
export class ChatRequest {
  // Decorators apply from the bottom up, and the first fault is the one that is told: the type stands last.
  @IsOptional()
  @MaxLength(256)
  @MinLength(1)
  @IsString()
  readonly model?: string | null;

  @IsOptional()
  @MaxLength(256, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(16)
  @ArrayMinSize(1)
  @IsArray()
  readonly models?: readonly string[] | null;

  @IsObject({ each: true, message: 'each of messages must be an object' })
  @ArrayMinSize(1, { message: 'messages must hold at least one message' })
  @IsArray({ message: 'messages must be an array of messages' })
  readonly messages: readonly object[] = [];

  @IsOptional()
  @IsBoolean()
  readonly stream?: boolean | null;

  @IsOptional()
  @IsObject()
  readonly stream_options?: { readonly include_usage?: unknown } | null;

  @IsOptional()
  @IsPositive()
  @IsInt()
  readonly max_tokens?: number | null;

  @IsOptional()
  @IsPositive()
  @IsInt()
  readonly max_completion_tokens?: number | null;

  @IsOptional()
  @IsPositive()
  @IsInt()
  readonly n?: number | null;

  @IsOptional()
  @IsBoolean()
  readonly cache?: boolean | null;
}

/**
 * @param body - the parsed JSON body
 * @param text - the same as it was written
 * @throws ApiError invalid_request naming the first member at fault
 */
export function parseChatRequest(body: unknown, text: string): ChatRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError('invalid_request', 'the body must be a JSON object');
  }
  GUARDED_NAMES.check(text);
  const request = Object.assign(new ChatRequest(), pick(body));
  if (isPlain(request)) return request;
  const [fault] = validateSync(request, { stopAtFirstError: true, forbidUnknownValues: true });
  if (fault !== undefined) throw faultError(fault);
  checkRoles(request.messages);
  if (namesOf(request).length === 0)
    throw new ApiError('invalid_request', 'model must name a model', { param: 'model' });
  return request;
}

/**
 * True for what nearly every request is: only members that need no look at all, of the right type. It spares these requests the
 * validator, a tenth of their CPU; for whatever it does not recognise the validator decides and finds the words.
 */
function isPlain({ model, messages, ...others }: ChatRequest): boolean {
  const { stream, stream_options: streamOptions, max_tokens: maxTokens, ...rare } = others;
  return (
    Object.keys(rare).length === 0 &&
    isName(model) &&
    (stream === undefined || typeof stream === 'boolean') &&
    (streamOptions === undefined || isObject(streamOptions)) &&
    (maxTokens === undefined || isCount(maxTokens)) &&
    isConversation(messages)
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 256;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

function isConversation(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isMessage);
}

function isMessage(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'role' in message && typeof message.role === 'string';
}

/** The models to try, in order: the explicit list, or the one model. */
export function namesOf({ model, models }: ChatRequest): readonly string[] {
  return models ?? (typeof model === 'string' ? [model] : []);
}

/** The most that one answer may hold, tokens; 0: the caller sets no limit. */
export function maxOutputTokensOf({ max_tokens: older, max_completion_tokens: limit }: ChatRequest): number {
  return limit ?? older ?? 0;
}

export function wantsUsage({ stream_options }: ChatRequest): boolean {
  return stream_options?.include_usage === true;
}

function pick(body: object): Partial<Record<(typeof KNOWN)[number], unknown>> {
  const picked: Partial<Record<(typeof KNOWN)[number], unknown>> = {};
  for (const key of KNOWN) if (Object.hasOwn(body, key)) picked[key] = Reflect.get(body, key);
  return picked;
}

function faultError({ property, constraints }: ValidationError): ApiError {
  const message = Object.values(constraints ?? {})[0] ?? `${property} is not valid`;
  return new ApiError('invalid_request', message, { param: property });
}

function checkRoles(messages: readonly object[]): void {
  const at = messages.findIndex((message) => !('role' in message) || typeof message.role !== 'string');
  if (at === -1) return;
  const param = `messages[${String(at)}].role`;
  throw new ApiError('invalid_request', `${param} must be a string`, { param });
}
