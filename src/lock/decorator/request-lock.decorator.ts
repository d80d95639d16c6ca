import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import { checkWithLockOptions, type WithLockOptions } from './busy.options.js';
import { checkFixedKey, keysFor, type LockKeys } from './lock-key.js';

/** Which lock a request needs. */
export interface RequestLockRule {
  readonly key: (request: never) => LockKeys;
  readonly options: WithLockOptions;
}

export const REQUEST_LOCK = Symbol('REQUEST_LOCK');

/**
 * Says under which lock LockInterceptor runs the requests of a route, or of all routes of a controller.
 * @throws LockOptionsError, where the class is defined, for options or a fixed key that are no good
 * @param key a fixed one, or a function of the platform's request; outside HTTP, of the handler's first argument
 *
 * @example
 * @UseInterceptors(LockInterceptor)
 * @RequestLock((request: FastifyRequest<{ Params: { id: string } }>) => `export:${request.params.id}`, { onBusy: 'fail' })
 * @Get(':id/export')
 * export(@Param('id') id: string): StreamableFile { … }
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it types the parameter of a key function
export function RequestLock<Request = unknown>(
  key: LockKeys | ((request: Request) => LockKeys),
  options: WithLockOptions = {},
): CustomDecorator<symbol> {
  checkFixedKey(key);
  checkWithLockOptions(options);
  const rule: RequestLockRule = { key: (request: Request) => keysFor(key, [request]), options };
  return SetMetadata(REQUEST_LOCK, rule);
}
