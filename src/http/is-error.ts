import { types } from 'node:util';

/** Errors of every make: Fastify's are made without `class` and fail one test, those of another realm fail the other. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
