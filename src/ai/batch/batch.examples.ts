import { COMPLETION_EXAMPLES } from '../endpoint/schema/completion.examples.js';

export const BATCH_REQUEST_EXAMPLE = {
  model: 'gpt-4.1',
  concurrency: 2,
  requests: [
    { messages: [{ role: 'user', content: 'Say hello.' }] },
    { messages: [{ role: 'user', content: 'Say goodbye.' }], max_tokens: 100 },
  ],
};

const ERROR = {
  message: 'openai is at its rate limit',
  type: 'rate_limit_error',
  param: null,
  code: 'rate_limit_exceeded',
  status: 429,
  retry_after_ms: 1_000,
};

export const BATCH_EXAMPLE = {
  object: 'chat.completion.batch',
  total: 2,
  succeeded: 1,
  failed: 1,
  results: [
    { index: 0, success: true, data: COMPLETION_EXAMPLES.text.value },
    { index: 1, success: false, error: ERROR },
  ],
};

/** Byte for byte. */
export const BATCH_EVENTS_EXAMPLE = [
  event('progress', { completed: 1, total: 2, index: 1, success: false, error: ERROR }),
  event('progress', { completed: 2, total: 2, index: 0, success: true }),
  event('done', BATCH_EXAMPLE),
].join('');

function event(name: string, value: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}
