import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { LockCard, LockList, LockRevocation } from './locks.dto.js';

/** An error answer: http/ makes it of the code, and describes what can happen everywhere under the response `default`. */
interface DocumentedAnswer {
  readonly status: number;
  readonly description: string;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly headers?: readonly string[];
}

const LOCK_EXAMPLE: LockCard = {
  object: 'lock',
  key: 'order:42',
  capacity: 1_000_000,
  used: 1_000_000,
  holders: [
    {
      token: '5f0c9a52-7d0e-4f0b-9a53-6c2a8f1e0b77',
      process: '0d9c1c64-51a4-4c0e-8d3b-3a1c5f1c9f10',
      description: 'POST /orders/42/payment',
      state: 'held',
      since: '2026-11-29T12:00:00.000Z',
      lease_left_ms: 24_180,
      fence: 1_795_953_600_000_000,
      weight: 1_000_000,
    },
  ],
  queue: {
    length: 1,
    waiters: [
      {
        process: '8c3f1f0e-2c55-4f1c-9f0d-5f3b1f0a7e21',
        description: 'POST /orders/42/payment',
        since: '2026-11-29T12:00:03.512Z',
      },
    ],
  },
};

const NOT_A_CALLER: DocumentedAnswer = {
  status: 401,
  description: 'No such caller key.',
  type: 'authentication_error',
  code: 'invalid_api_key',
  message: 'missing or invalid API key; send it as "Authorization: Bearer <key>"',
  headers: ['www-authenticate'],
};
const NOT_AN_ADMIN: DocumentedAnswer = {
  status: 403,
  description: 'The key is not for operators.',
  type: 'permission_error',
  code: 'insufficient_scope',
  message: 'this API key lacks the scope "admin"',
};
const NO_STORE: DocumentedAnswer = {
  status: 503,
  description: 'The store did not answer.',
  type: 'api_error',
  code: 'store_unavailable',
  message: 'the lock store gave no result: no answer within 1000 ms',
  headers: ['retry-after', 'retry-after-ms', 'x-should-retry'],
};
const ERRORS_OF_ALL = [NOT_A_CALLER, NOT_AN_ADMIN, NO_STORE];

export function ListLocksDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listLocks', summary: 'The locks that are held or waited for, on all pods' }),
    ApiOkResponse({
      type: LockList,
      description: 'As they were a moment ago.',
      example: { object: 'list', data: [LOCK_EXAMPLE], has_more: false, last_id: LOCK_EXAMPLE.key },
    }),
    ...[...ERRORS_OF_ALL, badQuery('limit', 'limit: limit must not be less than 1')].map(errorAnswer),
  );
}

export function RetrieveLockDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'retrieveLock', summary: 'Who holds a lock, since when, and who waits' }),
    LockName(),
    ApiOkResponse({ type: LockCard, description: 'As it was a moment ago.', example: LOCK_EXAMPLE }),
    ...[...ERRORS_OF_ALL, badPath(), missing('holder or waiter')].map(errorAnswer),
  );
}

export function ReleaseLockDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'releaseLock', summary: 'Takes a lock from its holders, and tells them' }),
    LockName(),
    ApiOkResponse({
      type: LockRevocation,
      description: 'Its holders were told.',
      example: { object: 'lock.revocation', key: 'order:42', mode: 'drain', revoked: 1 },
    }),
    ...[
      ...ERRORS_OF_ALL,
      badQuery('mode', 'mode: mode must be one of the following values: drain, now'),
      missing('holder'),
    ].map(errorAnswer),
  );
}

function LockName(): MethodDecorator {
  return ApiParam({
    name: 'name',
    description: "the lock's key, percent-encoded; a slash in it is written %2F",
    example: 'order:42',
  });
}

function badQuery(param: string, message: string): DocumentedAnswer {
  const of = { status: 400, type: 'invalid_request_error', code: 'invalid_request' };
  return { ...of, description: 'A value of the query is no good.', message, param };
}

function badPath(): DocumentedAnswer {
  const of = { status: 400, type: 'invalid_request_error', code: 'invalid_request' };
  return { ...of, description: 'The path is no good.', message: 'the request path has a malformed percent-encoding' };
}

function missing(what: string): DocumentedAnswer {
  const of = { status: 404, type: 'invalid_request_error', code: 'not_found' };
  return { ...of, description: `There is no ${what}.`, message: `lock "order:42" has no ${what}` };
}

function errorAnswer({ status, description, headers = [], ...error }: DocumentedAnswer): MethodDecorator {
  const { message, type, param = null, code } = error;
  const example = { value: { error: { message, type, param, code } } };
  return ApiResponse({
    status,
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema: { $ref: getSchemaPath('Error') }, examples: { [code]: example } } },
  });
}
