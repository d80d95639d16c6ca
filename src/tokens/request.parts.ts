/** A text to encode, or tokens that are known: overhead is scaled by the model's ratio, attachments are not. */
export type CountedPart = string | { readonly overhead: number; readonly attachment: number };

/** Around every message (OpenAI cookbook, "How to count tokens with tiktoken"). */
export const MESSAGE_TOKENS = 3;
/** Every reply is primed with the assistant's header (same source). */
export const PRIMING_TOKENS = 3;
const NAME_TOKENS = 1;
/** Around one tool call, beside its name and arguments. */
const TOOL_CALL_TOKENS = 10;
/** Around one tool's schema, and once around all of them. */
const TOOL_TOKENS = 8;

/** The quotes and the colon between a JSON member's name and value. */
const JSON_MEMBER_TOKENS = 2;

/** Fixed prices of what is not text. An image of `detail: low` is 85; 765 is four tiles of 512 px (OpenAI, vision guide). */
const LOW_DETAIL_IMAGE_TOKENS = 85;
const IMAGE_TOKENS = 765;
const OTHER_ATTACHMENT_TOKENS = 1_000;

/** What a Chat Completions body is billed for, apart from the priming. */
export function* requestParts(body: unknown): Generator<CountedPart> {
  const request = asRecord(body);
  for (const message of asArray(request['messages'])) {
    yield* messageParts(message);
  }
  yield* toolParts(asArray(request['tools']).map((tool) => asRecord(tool)['function']));
  yield* toolParts(asArray(request['functions']));
  const schema = asRecord(request['response_format'])['json_schema'];
  if (schema !== undefined) {
    yield* jsonParts(schema);
  }
}

/** What one message is billed for, its overhead included. */
export function* messageParts(value: unknown): Generator<CountedPart> {
  const message = asRecord(value);
  yield overhead(MESSAGE_TOKENS);
  yield asText(message['role']);
  yield* contentParts(message['content']);
  yield asText(message['refusal']);
  if (typeof message['name'] === 'string') {
    yield overhead(NAME_TOKENS);
    yield message['name'];
  }
  for (const call of asArray(message['tool_calls'])) {
    yield* callParts(asRecord(call)['function'] ?? asRecord(call)['custom']);
  }
  if (message['function_call'] !== undefined) {
    yield* callParts(message['function_call']);
  }
}

function* contentParts(content: unknown): Generator<CountedPart> {
  if (typeof content === 'string') {
    yield content;
    return;
  }
  for (const value of asArray(content)) {
    const part = asRecord(value);
    switch (part['type']) {
      case 'text':
        yield asText(part['text']);
        break;
      case 'refusal':
        yield asText(part['refusal']);
        break;
      case 'image_url':
        yield attachment(asRecord(part['image_url'])['detail'] === 'low' ? LOW_DETAIL_IMAGE_TOKENS : IMAGE_TOKENS);
        break;
      default:
        yield attachment(OTHER_ATTACHMENT_TOKENS);
    }
  }
}

function* callParts(value: unknown): Generator<CountedPart> {
  const call = asRecord(value);
  yield overhead(TOOL_CALL_TOKENS);
  yield asText(call['name']);
  yield asText(call['arguments']);
  yield asText(call['input']);
}

function* toolParts(functions: readonly unknown[]): Generator<CountedPart> {
  if (functions.length === 0) {
    return;
  }
  yield overhead(TOOL_TOKENS);
  for (const definition of functions) {
    yield overhead(TOOL_TOKENS);
    yield* jsonParts(definition);
  }
}

function overhead(tokens: number): CountedPart {
  return { overhead: tokens, attachment: 0 };
}

function attachment(tokens: number): CountedPart {
  return { overhead: 0, attachment: tokens };
}

/** A JSON value as it would be written. Without recursion: JSON.stringify overflows the stack on what JSON.parse still accepts. */
function* jsonParts(root: unknown): Generator<CountedPart> {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    yield overhead(1);
    if (Array.isArray(value)) {
      for (const item of value) {
        pending.push(item);
      }
    } else if (isRecord(value)) {
      for (const [key, member] of Object.entries(value)) {
        yield key;
        yield overhead(JSON_MEMBER_TOKENS);
        pending.push(member);
      }
    } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      yield String(value);
    }
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
