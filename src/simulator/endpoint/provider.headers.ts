import type { OutgoingHttpHeaders } from 'node:http';

/** The headers that OpenAI puts on every completion beside the rate limits; `openai-processing-ms` is added when the head is sent. */
export function providerHeaders(requestId: string): OutgoingHttpHeaders {
  return { 'x-request-id': requestId, 'openai-version': '2020-10-01', 'openai-organization': 'simulator' };
}
