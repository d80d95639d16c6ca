import { entryOf, isObject, member } from '../../wire/json-value.js';

/** What a status would have said, for errors that come inside a 200 (https://platform.claude.com/docs/en/api/errors). */
const STATUS_OF_TYPE: Readonly<Partial<Record<string, number>>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** There is no code for it: only the words of an invalid_request_error tell it: "Your credit balance is too low to access the …" */
const NO_BALANCE = /\bcredit balance is too low\b/i;

/** `{"type":"error","error":{type, message, details?}}` in OpenAI's shape. `details.error_code` names the cause where there is a name. */
export function openAiError(body: unknown): unknown {
  const error = member(body, 'error');
  if (!isObject(error)) return body;
  const { type, message } = error;
  const code = member(error['details'], 'error_code') ?? codeOfWords(type, message);
  const status = typeof type === 'string' ? entryOf(STATUS_OF_TYPE, type) : undefined;
  return {
    error: {
      type,
      message,
      ...(typeof code === 'string' && { code }),
      ...(status !== undefined && { status }),
    },
  };
}

function codeOfWords(type: unknown, message: unknown): string | undefined {
  if (type !== 'invalid_request_error' || typeof message !== 'string') return undefined;
  return NO_BALANCE.test(message) ? 'credit_balance_exhausted' : undefined;
}
