import { isDeepStrictEqual } from 'node:util';
import { entryOf, isObject, type JsonObject } from '../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from './untranslatable.error.js';

/* What the adapters that translate read of OpenAI's request alike (https://platform.openai.com/docs/api-reference/chat/create). */

/** Translated for every kind of provider, or read by the adapter itself. */
const TRANSLATED = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'user',
  'safety_identifier',
];

type Values = Readonly<Partial<Record<string, readonly unknown[]>>>;

/** Values that ask for nothing: OpenAI's defaults, which clients like to spell out. */
const SAYING_NOTHING: Values = {
  logit_bias: [{}],
  store: [false],
  modalities: [['text']],
  verbosity: ['medium'],
  functions: [[]],
};

/** What one kind of provider can be told besides. */
export interface KnownMembers {
  readonly translated: readonly string[];
  /** Values that ask for nothing there. */
  readonly sayingNothing: Values;
}

/** Refuses by name what of a request would otherwise be dropped. @throws UntranslatableError */
export function refuseUnknown(body: JsonObject, { translated, sayingNothing }: KnownMembers): void {
  const silent: Values = { ...SAYING_NOTHING, ...sayingNothing };
  const asking = Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => entryOf(silent, name)?.some((nothing) => isDeepStrictEqual(nothing, value)) !== true,
    ),
  );
  const older = ['functions', 'function_call'].find((name) => isGiven(asking[name]));
  if (older !== undefined) throw new UntranslatableError(older, `${NO_COUNTERPART}: use tools`);
  refuseOthers(asking, '', [...TRANSLATED, ...translated]);
  refuseStreamOptions(body['stream_options']);
  const { parallel_tool_calls: parallel } = body;
  if (isGiven(parallel) && typeof parallel !== 'boolean')
    throw new UntranslatableError('parallel_tool_calls', 'must be true or false');
}

/** The usage is told by all, and nobody else pads what he sends. */
function refuseStreamOptions(options: unknown): void {
  if (!isGiven(options)) return;
  if (!isObject(options)) throw new UntranslatableError('stream_options', 'must be an object');
  const { include_obfuscation: padding, ...others } = options;
  refuseOthers(padding === false ? others : options, 'stream_options.', ['include_usage']);
}

/** The smaller one where a caller says both: so both are kept. @throws UntranslatableError */
export function outputLimitOf(body: JsonObject): number | undefined {
  const limits = ['max_completion_tokens', 'max_tokens'].flatMap((name) => {
    const limit = body[name];
    if (!isGiven(limit)) return [];
    if (typeof limit !== 'number') throw new UntranslatableError(name, 'must be a number');
    return [limit];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** @throws UntranslatableError */
export function stopSequencesOf(stop: unknown): readonly string[] {
  if (!isGiven(stop)) return [];
  return (Array.isArray(stop) ? stop : [stop]).map((sequence: unknown) => textOf(sequence, 'stop'));
}

/**
 * Both `user` and its successor name the end user, for the detection of abuse.
 *
 * @param own - how the provider's own format says it, by its path
 * @throws UntranslatableError
 */
export function endUserOf(body: JsonObject, own: JsonObject = {}): string | undefined {
  const names = { safety_identifier: body['safety_identifier'], user: body['user'], ...own };
  const users = Object.entries(names).flatMap(([path, name]) => (isGiven(name) ? [textOf(name, path)] : []));
  if (new Set(users).size > 1) throw new UntranslatableError('user', 'is said twice, and differently');
  return users[0];
}

/**
 * How the answer is to be formed; undefined: as text.
 *
 * @returns `json_schema` with the schema, its description in it. Its name is a label, and it is always followed strictly
 * @throws UntranslatableError
 */
export function answerFormatOf(
  format: unknown,
): { readonly type: 'json_object' } | { readonly type: 'json_schema'; readonly schema: JsonObject } | undefined {
  if (!isGiven(format)) return undefined;
  if (!isObject(format)) throw new UntranslatableError('response_format', 'must be an object');
  const { type } = format;
  if (type !== 'text' && type !== 'json_object' && type !== 'json_schema')
    throw new UntranslatableError('response_format.type', `${JSON.stringify(type)} ${NO_COUNTERPART}`);
  refuseOthers(format, 'response_format.', type === 'json_schema' ? ['type', type] : ['type']);
  if (type === 'json_schema') return { type, schema: schemaOf(format[type]) };
  return type === 'text' ? undefined : { type };
}

function schemaOf(described: unknown): JsonObject {
  const path = 'response_format.json_schema';
  if (!isObject(described) || !isObject(described['schema'])) throw new UntranslatableError(path, 'must hold a schema');
  refuseOthers(described, `${path}.`, ['name', 'description', 'schema', 'strict']);
  const { description, schema } = described;
  return isGiven(description) ? { description, ...schema } : schema;
}

/** Clients send a message back as they got it, `annotations: []` included. */
export function withoutEmptyLists(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

/**
 * Instructions stand apart from the dialogue at those who are translated for, and count for all of it. Said in the middle they would be
 * told as if they had been said before all that went before them, which changes what the answer should be.
 *
 * @throws UntranslatableError
 */
export function refuseLateInstructions(path: string): never {
  throw new UntranslatableError(`${path}.role`, 'must be user, assistant or tool there, once the dialogue has begun');
}

/** Nobody knows what a user meant who said nothing, and no provider takes it. @throws UntranslatableError */
export function refuseSilence(path: string): never {
  throw new UntranslatableError(path, 'must say something there');
}
