import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { LockCard, LockList, LockRevocation } from './locks.dto.js';

/** By code, with an example of its message; http/ makes the documented answers of them. */
type NamedErrors = Readonly<Record<string, { readonly message?: string; readonly param?: string }>>;

const ERRORS_OF_ALL: NamedErrors = {
  insufficient_scope: { message: 'this API key lacks the scope "admin"' },
  store_unavailable: {},
};

const LOCK_EXAMPLE: LockCard = {
  object: 'lock',
  key: 'order:42',
  capacity: 1_000_000,
  used: 1_000_000,
  holders: [
    {
      token: 'coordinator-6d5f9b7c4-x8k2p-3f9a1c2b7d10-42',
      process: 'coordinator-6d5f9b7c4-x8k2p-3f9a1c2b7d10',
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
        process: 'coordinator-6d5f9b7c4-q4mzn-b07e5d19c6a2',
        description: 'POST /orders/42/payment',
        since: '2026-11-29T12:00:03.512Z',
      },
    ],
  },
};

export function ListLocksDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listLocks', summary: 'The locks that are held or waited for, on all pods' }),
    ApiOkResponse({
      type: LockList,
      description: 'As they were a moment ago.',
      example: { object: 'list', data: [LOCK_EXAMPLE], has_more: false, last_id: LOCK_EXAMPLE.key },
    }),
    Errors({ invalid_request: { message: 'limit: limit must not be less than 1', param: 'limit' } }),
  );
}

export function RetrieveLockDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'retrieveLock', summary: 'Who holds a lock, since when, and who waits' }),
    LockName(),
    ApiOkResponse({ type: LockCard, description: 'As it was a moment ago.', example: LOCK_EXAMPLE }),
    Errors({
      invalid_request: { message: 'the request path has a malformed percent-encoding' },
      not_found: { message: 'lock "order:42" has no holder or waiter' },
    }),
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
    Errors({
      invalid_request: { message: 'mode: mode must be one of the following values: drain, now', param: 'mode' },
      not_found: { message: 'lock "order:42" has no holder' },
    }),
  );
}

function Errors(errors: NamedErrors): MethodDecorator {
  return ApiExtension('x-errors', { ...ERRORS_OF_ALL, ...errors });
}

function LockName(): MethodDecorator {
  return ApiParam({
    name: 'name',
    description: "the lock's key, percent-encoded; a slash in it is written %2F",
    example: 'order:42',
  });
}
