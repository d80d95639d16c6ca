import { STATUS_CODES } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiResponse, getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { ApiError, type ApiErrorOptions } from './api-error.js';
import { type DocumentedHeader, headerReferences } from './docs.headers.js';
import { errorBody, type ErrorBody } from './error-body.js';
import { STATUS_TABLE, type ErrorCode, type StatusRow } from './status-table.js';

type Components = NonNullable<OpenAPIObject['components']>;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type ResponseObject = Exclude<Operation['responses']['default'], { $ref: string } | undefined>;

/** The errors that an operation can give, each with a message as it really gives it. */
export type DocumentedErrors = Readonly<Partial<Record<ErrorCode, DocumentedError>>>;

interface DocumentedError extends Pick<ApiErrorOptions, 'param' | 'reportedCode' | 'details'> {
  readonly message: string;
}

/** What every operation that wants a key can answer. */
const ERRORS_OF_ALL: DocumentedErrors = {
  invalid_api_key: { message: 'missing or invalid API key; send it as "Authorization: Bearer <key>"' },
  host_not_allowed: { message: 'without configured callers only loopback host names are answered' },
  internal_error: { message: 'internal error; request id req-2f1c' },
  draining: { message: 'the server is shutting down and takes no new requests' },
};

const RETRY_HEADERS: readonly DocumentedHeader[] = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/**
 * Documents the errors of an operation under `/v1`: a response for each status, with an example for each code. Those that every
 * such operation can give come on top.
 *
 * @param headers - what the error answers carry beside the headers of every error
 * @example
 * @ApiErrors({ model_not_found: { message: 'this model does not exist', param: 'model' } })
 */
export function ApiErrors(errors: DocumentedErrors, headers: readonly DocumentedHeader[] = []): MethodDecorator {
  return applyDecorators(
    ...errorResponses(errors, headers).map(([status, answer]) => ApiResponse({ status, ...answer })),
  );
}

/**
 * Puts the error responses in place of the names that an operation has for them. For modules that must not import this one; codes
 * that the status table has a text for need no message.
 *
 * @throws {Error} for a code that the status table does not have
 * @example
 * @ApiExtension('x-errors', { not_found: { message: 'no such order' }, lock_busy: {} })
 */
export function describeNamedErrors(operation: Operation): void {
  const named: unknown = Reflect.get(operation, NAMED_ERRORS);
  if (typeof named !== 'object' || named === null) return;
  Reflect.deleteProperty(operation, NAMED_ERRORS);
  const errors = Object.fromEntries(Object.entries(named).map(([code, error]) => [code, readNamed(code, error)]));
  operation.responses = { ...operation.responses, ...Object.fromEntries(errorResponses(errors, [])) };
}

const NAMED_ERRORS = 'x-errors';

function readNamed(code: string, error: unknown): DocumentedError {
  if (!isErrorCode(code)) throw new Error(`${NAMED_ERRORS}: the status table has no "${code}"`);
  if (typeof error !== 'object' || error === null) throw new Error(`${NAMED_ERRORS}: "${code}" needs an object`);
  const message: unknown = Reflect.get(error, 'message');
  const param: unknown = Reflect.get(error, 'param');
  return { message: typeof message === 'string' ? message : '', ...(typeof param === 'string' && { param }) };
}

/** The schema of every error answer. */
export function errorSchema(): NonNullable<Components['schemas']>[string] {
  const error = {
    type: 'object',
    required: ['message', 'type', 'param', 'code'],
    properties: {
      message: { type: 'string', example: 'max_tokens must be a positive number' },
      type: { type: 'string', enum: [...new Set(Object.values(STATUS_TABLE).map((row) => row.type))] },
      param: { type: 'string', nullable: true, example: 'max_tokens', description: 'The request member at fault.' },
      code: { type: 'string', nullable: true, example: 'invalid_request', description: codeText() },
    },
    // Some errors tell facts of their own.
    additionalProperties: true,
  };
  return { type: 'object', required: ['error'], properties: { error } };
}

/** The answer of every failure that an operation does not name itself. */
export function errorResponseComponent(): NonNullable<Components['responses']>[string] {
  return {
    description: errorTable(),
    headers: headerReferences(['x-request-id', ...RETRY_HEADERS]),
    content: {
      'application/json': {
        schema: { $ref: getSchemaPath('Error') },
        example: errorBody(new ApiError('headers_too_large', 'the request headers are too large')),
      },
    },
  };
}

function errorResponses(
  errors: DocumentedErrors,
  headers: readonly DocumentedHeader[],
): readonly (readonly [number, ResponseObject])[] {
  const byStatus = new Map<number, Record<string, { readonly value: ErrorBody }>>();
  for (const [code, { message, ...options }] of entriesOf({ ...ERRORS_OF_ALL, ...errors })) {
    const { status, text = message }: StatusRow = STATUS_TABLE[code];
    byStatus.set(status, {
      ...byStatus.get(status),
      [code]: { value: errorBody(new ApiError(code, text, options)) },
    });
  }
  return [...byStatus].map(([status, examples]) => [status, errorResponse(status, examples, headers)]);
}

function errorResponse(
  status: number,
  examples: Record<string, { readonly value: ErrorBody }>,
  headers: readonly DocumentedHeader[],
): ResponseObject {
  const codes = Object.keys(examples).map((code) => `\`${code}\``);
  return {
    description: `${STATUS_CODES[status] ?? 'Error'}: ${codes.join(', ')}.`,
    headers: headerReferences([...headersAt(status), ...headers]),
    content: { 'application/json': { schema: { $ref: getSchemaPath('Error') }, examples } },
  };
}

function headersAt(status: number): readonly DocumentedHeader[] {
  if (status === 401) return ['www-authenticate'];
  return status === 409 || status === 429 || status >= 500 ? RETRY_HEADERS : [];
}

/** Providers have codes of their own (`unsupported_value`, `content_filter`), and more come: the set is open. */
function codeText(): string {
  const known = Object.keys(STATUS_TABLE).map((code) => `\`${code}\``);
  return `Where a provider refused the request: its own code (such as \`content_filter\`) if it told one. Else one of ${known.join(', ')}.`;
}

function errorTable(): string {
  const codesByStatus = new Map<number, string[]>();
  for (const [code, row] of Object.entries(STATUS_TABLE)) {
    codesByStatus.set(row.status, [...(codesByStatus.get(row.status) ?? []), code]);
  }
  const lines = [...codesByStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => `- ${String(status)}: ${codes.join(', ')}`);
  return [
    'Every failure has this shape. `Retry-After` and `retry-after-ms` say when to try again, `x-should-retry` whether. The codes:',
    '',
    ...lines,
  ].join('\n');
}

function entriesOf(errors: DocumentedErrors): readonly (readonly [ErrorCode, DocumentedError])[] {
  return Object.entries(errors).flatMap(([code, error]) => (isErrorCode(code) ? [[code, error] as const] : []));
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(STATUS_TABLE, code);
}
