import { parseMessages, type ChatMessage } from './chat.messages.js';
import { parseTools, parseToolChoice, type FunctionTool, type ToolChoice } from './chat.tools.js';
import {
  arrayAt,
  choiceAt,
  invalidType,
  memberOf,
  objectAt,
  optionalBoolean,
  optionalNumber,
  stringAt,
  type JsonObject,
} from './json.checks.js';
import { invalidRequest } from '../provider.error.js';

/** A Chat Completions body as far as the simulator acts on it. Members it does not know are accepted and ignored. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly isStream: boolean;
  readonly includesUsage: boolean;
  readonly choices: number;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolChoice;
  readonly allowsParallelCalls: boolean;
  readonly format: ResponseFormat;
  /** The body as it came. */
  readonly body: JsonObject;
}

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: JsonObject };

const MAX_CHOICES = 128;
const MAX_STOPS = 4;

/** @throws ProviderError 400 in OpenAI's wording, naming the member at fault. */
export function parseChatRequest(value: unknown): ChatRequest {
  const body = objectAt(value, 'body');
  if (memberOf(body, 'model') === undefined) {
    throw invalidRequest('you must provide a model parameter');
  }
  const isStream = optionalBoolean(body, 'stream') ?? false;
  checkSampling(body);
  const tools = parseTools(memberOf(body, 'tools'));
  return {
    model: stringAt(body['model'], 'model'),
    messages: parseMessages(body['messages']),
    isStream,
    includesUsage: parseIncludeUsage(body, isStream),
    choices: optionalNumber(body, 'n', { kind: 'integer', min: 1, max: MAX_CHOICES }) ?? 1,
    maxTokens: parseMaxTokens(body),
    stop: parseStop(memberOf(body, 'stop')),
    tools,
    toolChoice: parseToolChoice(memberOf(body, 'tool_choice'), tools),
    allowsParallelCalls: optionalBoolean(body, 'parallel_tool_calls') ?? true,
    format: parseFormat(memberOf(body, 'response_format')),
    body,
  };
}

function checkSampling(body: JsonObject): void {
  optionalNumber(body, 'temperature', { kind: 'decimal', min: 0, max: 2 });
  optionalNumber(body, 'top_p', { kind: 'decimal', min: 0, max: 1 });
  optionalNumber(body, 'presence_penalty', { kind: 'decimal', min: -2, max: 2 });
  optionalNumber(body, 'frequency_penalty', { kind: 'decimal', min: -2, max: 2 });
  optionalNumber(body, 'seed', { kind: 'integer' });
  optionalBoolean(body, 'logprobs');
}

function parseIncludeUsage(body: JsonObject, isStream: boolean): boolean {
  const options = memberOf(body, 'stream_options');
  if (options === undefined) {
    return false;
  }
  if (!isStream) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw invalidRequest(message, 'stream_options');
  }
  return optionalBoolean(objectAt(options, 'stream_options'), 'include_usage') ?? false;
}

function parseMaxTokens(body: JsonObject): number | undefined {
  const old = optionalNumber(body, 'max_tokens', { kind: 'integer', min: 1 });
  const current = optionalNumber(body, 'max_completion_tokens', { kind: 'integer', min: 1 });
  if (old !== undefined && current !== undefined) {
    const message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    throw invalidRequest(message, 'max_tokens', 'invalid_parameter_combination');
  }
  return old ?? current;
}

function parseStop(stop: unknown): readonly string[] {
  if (stop === undefined) {
    return [];
  }
  if (typeof stop === 'string') {
    return [stop];
  }
  if (!Array.isArray(stop)) {
    throw invalidType('stop', 'a string or an array of strings', stop);
  }
  return arrayAt(stop, 'stop', MAX_STOPS).map((each, index) => stringAt(each, `stop[${String(index)}]`));
}

function parseFormat(value: unknown): ResponseFormat {
  if (value === undefined) {
    return { type: 'text' };
  }
  const format = objectAt(value, 'response_format');
  const type = choiceAt(format['type'], 'response_format.type', ['json_object', 'json_schema', 'text']);
  if (type !== 'json_schema') {
    return { type };
  }
  const named = objectAt(format['json_schema'], 'response_format.json_schema');
  stringAt(named['name'], 'response_format.json_schema.name');
  return { type, schema: objectAt(memberOf(named, 'schema') ?? {}, 'response_format.json_schema.schema') };
}
