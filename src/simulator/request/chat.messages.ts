import { arrayAt, choiceAt, invalidType, memberOf, objectAt, stringAt, type JsonObject } from './json.checks.js';
import { invalidRequest } from '../provider.error.js';

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'] as const;
type Role = (typeof ROLES)[number];

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface ChatMessage {
  readonly role: Role;
  /** The text of all text parts, in order. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | undefined;
}

/** @throws ProviderError 400 in OpenAI's wording. */
export function parseMessages(value: unknown): readonly ChatMessage[] {
  const messages = arrayAt(value, 'messages').map((each, index) => parseMessage(each, `messages[${String(index)}]`));
  checkToolAnswers(messages);
  return messages;
}

function parseMessage(value: unknown, param: string): ChatMessage {
  const message = objectAt(value, param);
  const role = choiceAt(message['role'], `${param}.role`, ROLES);
  const toolCalls = role === 'assistant' ? parseToolCalls(memberOf(message, 'tool_calls'), `${param}.tool_calls`) : [];
  const toolCallId = role === 'tool' ? stringAt(message['tool_call_id'], `${param}.tool_call_id`) : undefined;
  const mayBeEmpty = toolCalls.length > 0 || memberOf(message, 'function_call') !== undefined;
  return { role, text: parseContent(message, { param, role, mayBeEmpty }), toolCalls, toolCallId };
}

interface ContentPlace {
  readonly param: string;
  readonly role: Role;
  readonly mayBeEmpty: boolean;
}

function parseContent(message: JsonObject, place: ContentPlace): string {
  const param = `${place.param}.content`;
  const content = message['content'];
  if (typeof content === 'string') {
    return content;
  }
  if (content === null || content === undefined) {
    if (place.mayBeEmpty || memberOf(message, 'refusal') !== undefined) {
      return '';
    }
    throw content === null
      ? invalidRequest("Invalid value for 'content': expected a string, got null.", param)
      : invalidType(param, 'a string', content);
  }
  if (!Array.isArray(content)) {
    throw invalidType(param, 'one of a string or array of objects', content);
  }
  const parts = arrayAt(content, param);
  return parts.map((part, index) => parsePart(part, `${param}[${String(index)}]`, place.role)).join('');
}

function parsePart(value: unknown, param: string, role: Role): string {
  const part = objectAt(value, param);
  const allowed =
    role === 'user' ? (['text', 'image_url', 'input_audio', 'file'] as const) : (['text', 'refusal'] as const);
  const type = choiceAt<'text' | 'refusal' | 'image_url' | 'input_audio' | 'file'>(
    part['type'],
    `${param}.type`,
    allowed,
  );
  if (type === 'text' || type === 'refusal') {
    return stringAt(part[type], `${param}.${type}`);
  }
  const attachment = objectAt(part[type], `${param}.${type}`);
  if (type === 'image_url') {
    checkImageUrl(stringAt(attachment['url'], `${param}.image_url.url`), `${param}.image_url.url`);
  }
  return '';
}

// Accepted by its look only: nothing is ever fetched.
function checkImageUrl(url: string, param: string): void {
  if (!/^(https?:\/\/|data:image\/[\w.+-]+;base64,)/i.test(url)) {
    const example = 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=';
    const message = `Invalid '${param}'. Expected a valid URL or a base64-encoded data URL with an image MIME type (e.g. '${example}').`;
    throw invalidRequest(message, param, 'invalid_value');
  }
}

function parseToolCalls(value: unknown, param: string): readonly ToolCall[] {
  if (value === undefined) {
    return [];
  }
  return arrayAt(value, param).map((each, index) => {
    const place = `${param}[${String(index)}]`;
    const call = objectAt(each, place);
    choiceAt(call['type'], `${place}.type`, ['function']);
    const called = objectAt(call['function'], `${place}.function`);
    return {
      id: stringAt(call['id'], `${place}.id`),
      name: stringAt(called['name'], `${place}.function.name`),
      arguments: stringAt(called['arguments'], `${place}.function.arguments`),
    };
  });
}

/** Every call is answered right after it, and every answer has its call. */
function checkToolAnswers(messages: readonly ChatMessage[]): void {
  let open = new Set<string>();
  let known = new Set<string>();
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (message.toolCallId === undefined || !known.has(message.toolCallId)) {
        const text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        throw invalidRequest(`Invalid parameter: ${text}`, `messages.[${String(index)}].role`);
      }
      open.delete(message.toolCallId);
      return;
    }
    refuseUnanswered(open, index);
    known = new Set(message.toolCalls.map((call) => call.id));
    open = new Set(known);
  });
  refuseUnanswered(open, messages.length);
}

function refuseUnanswered(open: ReadonlySet<string>, index: number): void {
  if (open.size > 0) {
    const rule =
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
    const missing = `The following tool_call_ids did not have response messages: ${[...open].join(', ')}`;
    throw invalidRequest(`${rule} ${missing}`, `messages.[${String(index)}].role`);
  }
}
