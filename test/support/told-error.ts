import { expect } from '@jest/globals';
import type OpenAI from 'openai';

/** What the openai client tells of an error. */
export interface Told {
  readonly status: number;
  readonly code: string;
  readonly param?: string | null;
}

/** `error.type` by code, where it is not `invalid_request_error`. */
const TYPES: Readonly<Partial<Record<string, string>>> = {
  invalid_api_key: 'authentication_error',
  model_not_allowed: 'permission_error',
  upstream_auth: 'api_error',
  upstream_error: 'api_error',
  timeout: 'timeout_error',
  overloaded: 'overloaded_error',
  rate_limit_exceeded: 'rate_limit_error',
  insufficient_quota: 'insufficient_quota',
};

/** Expects all members of the error object, and the request's id. */
export function expectTold(error: unknown, { status, code, param = null }: Told): void {
  const type = TYPES[code] ?? 'invalid_request_error';
  expect(error).toMatchObject({ status, code, type, param, requestID: expect.stringMatching(/./) });
}

/** What the answer says about trying again; null: nothing. */
export function adviceOf(error: unknown): { readonly shouldRetry: string | null; readonly waitMs: string | null } {
  // The client's class is generic over its headers: by `instanceof` they would be `any`.
  const { headers } = error as InstanceType<typeof OpenAI.APIError>;
  if (headers === undefined) throw new Error(`no answer: ${String(error)}`);
  return { shouldRetry: headers.get('x-should-retry'), waitMs: headers.get('retry-after-ms') };
}
