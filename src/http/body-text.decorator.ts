import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

/**
 * The JSON body's exact text, to be sent on untouched. The body was parsed and is valid JSON; `@Body()` has its value.
 * @throws ApiError `invalid_request` when the request has no body
 * @example complete(@BodyText() text: string, @Body() body: unknown) {}
 */
export const BodyText = createParamDecorator((_option: unknown, context: ExecutionContext): string => {
  const { bodyText } = context.switchToHttp().getRequest<FastifyRequest>();
  if (bodyText === undefined) throw new ApiError('invalid_request', 'the request body is empty: send JSON');
  return bodyText;
});
