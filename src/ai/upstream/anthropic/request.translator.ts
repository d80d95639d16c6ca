import { isDeepStrictEqual } from 'node:util';
import { entryOf, isObject, type JsonObject } from '../../wire/json-value.js';
import { conversationOf } from './message.translator.js';
import { isGiven, NO_COUNTERPART, UntranslatableError, refuseOthers, textOf } from '../untranslatable.error.js';
import { writeJson } from './raw-json.js';
import { thinkingMembers, type ThinkingMembers } from './thinking.js';
import { toolMembers } from './tool.translator.js';

export interface TranslationContext {
  /** The model's name there. */
  readonly model: string;
  /** What the model can write at most, tokens: `max_tokens` where the caller set none. */
  readonly maxOutputTokens: number;
}

export interface MessagesRequest {
  readonly maxTokens: number;
  /** The body's JSON text. */
  text(isStream: boolean): string;
}

/**
 * An OpenAI chat completion request as a request to the Messages API
 * (https://platform.claude.com/docs/en/api/messages). Members that are Anthropic's own pass as they are.
 *
 * @throws UntranslatableError for the first member that has no counterpart there
 */
export function messagesRequest(body: JsonObject, { model, maxOutputTokens }: TranslationContext): MessagesRequest {
  refuseUnknown(body);
  const { system, messages } = conversationOf(body['messages']);
  const maxTokens = outputLimit(body) ?? maxOutputTokens;
  const request = {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...sampling(body),
    ...stopSequences(body['stop']),
    ...toolMembers(body),
    ...outputMembers(body, model, maxTokens),
    ...userMetadata(body),
    ...serviceTier(body['service_tier']),
    ...passed(body),
  };
  return { maxTokens, text: (isStream) => writeJson(isStream ? { ...request, stream: true } : request) };
}

/** Anthropic's own. Those that change the price (`speed`, `inference_geo`) are not among them: nobody would book it. */
const NATIVE = ['top_k', 'cache_control'] as const;

/** Read by the functions below, or by the adapter. */
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
  'thinking',
  'output_config',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
];

/** Values that ask for nothing: OpenAI's defaults, which clients like to spell out. */
const SAYING_NOTHING: Readonly<Partial<Record<string, readonly unknown[]>>> = {
  n: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  logit_bias: [{}],
  store: [false],
  modalities: [['text']],
  verbosity: ['medium'],
  functions: [[]],
};

function refuseUnknown(body: JsonObject): void {
  const asking = Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => entryOf(SAYING_NOTHING, name)?.some((nothing) => isDeepStrictEqual(nothing, value)) !== true,
    ),
  );
  if (isGiven(asking['functions']) || isGiven(asking['function_call'])) {
    const param = isGiven(asking['functions']) ? 'functions' : 'function_call';
    throw new UntranslatableError(param, `${NO_COUNTERPART}: use tools`);
  }
  refuseOthers(asking, '', [...TRANSLATED, ...NATIVE]);
  const options = body['stream_options'];
  if (isObject(options) && options['include_obfuscation'] !== false) {
    refuseOthers(options, 'stream_options.', ['include_usage']);
  }
}

/** The smaller one where a caller says both: so both are kept. */
function outputLimit(body: JsonObject): number | undefined {
  const limits = ['max_completion_tokens', 'max_tokens'].flatMap((name) => {
    const limit = body[name];
    if (!isGiven(limit)) return [];
    if (typeof limit !== 'number') throw new UntranslatableError(name, 'must be a number');
    return [limit];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** 1 is the default on both sides, and newer models refuse to be told any value. */
function sampling(body: JsonObject): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const name of ['temperature', 'top_p']) {
    const value = body[name];
    if (!isGiven(value) || value === 1) continue;
    if (typeof value !== 'number' || value < 0 || value > 1) {
      throw new UntranslatableError(name, 'must be a number from 0 to 1 in the Messages API');
    }
    members[name] = value;
  }
  return members;
}

function stopSequences(stop: unknown): Readonly<Record<string, unknown>> {
  if (!isGiven(stop)) return {};
  const sequences: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  if (sequences.length === 0) return {};
  const isBlank = sequences.some((sequence) => textOf(sequence, 'stop').trim() === '');
  if (isBlank) throw new UntranslatableError('stop', 'must hold more than blanks in the Messages API');
  return { stop_sequences: sequences };
}

/** `thinking` and `output_config`, which are Anthropic's own, and what OpenAI says in their place. */
function outputMembers(body: JsonObject, model: string, maxTokens: number): Readonly<Record<string, unknown>> {
  const { thinking, effort } = thought(body, model, maxTokens);
  const format = outputFormat(body['response_format']);
  const config = { ...ownConfig(body['output_config']), ...given({ effort, format }) };
  return { ...given({ thinking }), ...(Object.keys(config).length > 0 && { output_config: config }) };
}

function thought(
  { reasoning_effort: effort, thinking }: JsonObject,
  model: string,
  maxTokens: number,
): ThinkingMembers {
  if (!isGiven(effort)) return { thinking };
  if (isGiven(thinking)) throw new UntranslatableError('reasoning_effort', 'and thinking exclude each other');
  return thinkingMembers(effort, model, maxTokens);
}

function ownConfig(config: unknown): JsonObject {
  if (!isGiven(config)) return {};
  if (!isObject(config)) throw new UntranslatableError('output_config', 'must be an object');
  return config;
}

function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isGiven(value)));
}

/** Structured outputs: https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
function outputFormat(format: unknown): unknown {
  if (!isGiven(format)) return undefined;
  if (!isObject(format)) throw new UntranslatableError('response_format', 'must be an object');
  if (format['type'] === 'text') return undefined;
  if (format['type'] !== 'json_schema') {
    throw new UntranslatableError('response_format', `${NO_COUNTERPART} but for json_schema`);
  }
  const described = format['json_schema'];
  const path = 'response_format.json_schema';
  if (!isObject(described) || !isObject(described['schema'])) {
    throw new UntranslatableError(path, 'must hold a schema');
  }
  // The schema's name is a label, and it is always followed strictly.
  refuseOthers(described, `${path}.`, ['name', 'schema', 'strict', 'description']);
  const description = isGiven(described['description']) ? { description: described['description'] } : {};
  return { type: 'json_schema', schema: { ...description, ...described['schema'] } };
}

/** Both `user` and its successor name the end user, for the detection of abuse. */
function userMetadata(body: JsonObject): Readonly<Record<string, unknown>> {
  const metadata = body['metadata'];
  if (isGiven(metadata) && !isObject(metadata)) throw new UntranslatableError('metadata', 'must be an object');
  if (isObject(metadata)) refuseOthers(metadata, 'metadata.', ['user_id']);
  const own = isObject(metadata) ? metadata['user_id'] : undefined;
  const users = new Set([body['safety_identifier'], body['user'], own].filter(isGiven));
  if (users.size > 1) throw new UntranslatableError('user', 'is said twice, and differently');
  return Object.fromEntries([...users].map((user) => ['metadata', { user_id: user }]));
}

const TIERS: Readonly<Partial<Record<string, string>>> = {
  auto: 'auto',
  default: 'standard_only',
  standard_only: 'standard_only',
};

function serviceTier(tier: unknown): Readonly<Record<string, unknown>> {
  if (!isGiven(tier)) return {};
  const name = typeof tier === 'string' ? entryOf(TIERS, tier) : undefined;
  if (name === undefined) throw new UntranslatableError('service_tier', `${JSON.stringify(tier)} ${NO_COUNTERPART}`);
  return { service_tier: name };
}

function passed(body: JsonObject): Readonly<Record<string, unknown>> {
  return given(Object.fromEntries(NATIVE.map((name) => [name, body[name]])));
}
