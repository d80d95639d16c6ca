import { entryOf, isObject, type JsonObject } from '../../wire/json-value.js';
import { conversationOf } from './message.translator.js';
import {
  answerFormatOf,
  endUserOf,
  type KnownMembers,
  outputLimitOf,
  refuseUnknown,
  stopSequencesOf,
} from '../openai.request.js';
import { isGiven, NO_COUNTERPART, refuseOthers, UntranslatableError } from '../untranslatable.error.js';
import { writeJson } from '../../wire/raw-json.js';
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
  refuseUnknown(body, KNOWN);
  const { system, messages } = conversationOf(body['messages']);
  const maxTokens = outputLimitOf(body) ?? maxOutputTokens;
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

const KNOWN: KnownMembers = {
  translated: ['thinking', 'output_config', 'metadata', 'service_tier', ...NATIVE],
  sayingNothing: { n: [1], presence_penalty: [0], frequency_penalty: [0], logprobs: [false], top_logprobs: [0] },
};

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
  const sequences = stopSequencesOf(stop);
  if (sequences.some((sequence) => sequence.trim() === ''))
    throw new UntranslatableError('stop', 'must hold more than blanks in the Messages API');
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
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
function outputFormat(asked: unknown): unknown {
  const format = answerFormatOf(asked);
  if (format?.type === 'json_object')
    throw new UntranslatableError('response_format.type', `"json_object" ${NO_COUNTERPART}: use json_schema`);
  return format;
}

function userMetadata(body: JsonObject): Readonly<Record<string, unknown>> {
  const metadata = body['metadata'] ?? {};
  if (!isObject(metadata)) throw new UntranslatableError('metadata', 'must be an object');
  refuseOthers(metadata, 'metadata.', ['user_id']);
  const user = endUserOf(body, { 'metadata.user_id': metadata['user_id'] });
  return user === undefined ? {} : { metadata: { user_id: user } };
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
