import type { OpenAPIObject } from '@nestjs/swagger';
import { REPORT_HEADERS } from './own-headers.js';

type Components = NonNullable<OpenAPIObject['components']>;
type Header = NonNullable<Components['headers']>[string];

/** The headers of this server's answers, as the OpenAPI document's reusable components. */
export const DOCUMENTED_HEADERS = {
  'x-request-id': text('The id of the request: the one it brought if that was sane, else a new one.', 'req-2f1c'),
  [REPORT_HEADERS.model]: text('The catalogue name of the model that answered.', 'gpt-4.1'),
  [REPORT_HEADERS.provider]: text('The provider that answered, or was tried last.', 'openai'),
  [REPORT_HEADERS.route]: text(
    "Why this model answered, or was tried last: `requested` (it was asked for by its name), `alias` (by another of its names), or what stood in the way of the one asked for: `tier` (outside the tier of the caller or of our keys), `quota` (ours is used up, or nearly), `busy` (no room within the limits), `cooldown` (left alone after failures), `context` (the prompt is too large for it), `error` (it failed, or can't be told the request), `retired` (shut down). More values may come.",
    'requested',
  ),
  [REPORT_HEADERS.attempts]: count('Calls that were sent to providers for this request.', 1),
  [REPORT_HEADERS.cache]: text(
    '`hit`, `miss`, `joined` or `bypass`; nothing is cached yet: always `bypass`.',
    'bypass',
  ),
  [REPORT_HEADERS.queueMs]: count(
    'Milliseconds of waiting for room within the limits; nothing waits yet: always 0.',
    0,
  ),
  [REPORT_HEADERS.upstreamMs]: count('Milliseconds that the provider took, of a stream until its first content.', 412),
  [REPORT_HEADERS.totalMs]: count('Milliseconds from the request to the head of its answer.', 415),
  [REPORT_HEADERS.costUsd]: {
    description: 'USD, by the price of the deployment that answered. Absent on a stream, whose last chunk tells it.',
    schema: { type: 'number', minimum: 0 },
    example: 0.000036,
  },
  'openai-processing-ms': {
    description: 'As the provider sent it.',
    schema: { type: 'number', minimum: 0 },
    example: 405,
  },
  'openai-version': text('As the provider sent it.', '2020-10-01'),
  etag: text('What the conversation is at: for `if-match`.', '"2-1"'),
  'retry-after': count('Seconds after which another try makes sense, rounded up.', 1),
  'retry-after-ms': count('The same in milliseconds, exact.', 1_000),
  'x-should-retry': {
    description: 'Whether another try makes sense, where the status alone would mislead.',
    schema: { type: 'string', enum: ['true', 'false'] },
    example: 'false',
  },
  'www-authenticate': text('The scheme that is asked for.', 'Bearer'),
} as const satisfies Record<string, Header>;

/** A header that the OpenAPI document describes. */
export type DocumentedHeader = keyof typeof DOCUMENTED_HEADERS;

/** A response's `headers`, by reference. */
export function headerReferences(names: readonly DocumentedHeader[]): Record<string, { readonly $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function text(description: string, example: string) {
  return { description, schema: { type: 'string' }, example } as const;
}

function count(description: string, example: number) {
  return { description, schema: { type: 'integer', minimum: 0 }, example } as const;
}
