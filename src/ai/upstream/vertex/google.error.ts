import { isObject, type JsonObject, member, parseObject } from '../../wire/json-value.js';

/**
 * A response's JSON text as an object. One that was not asked for as a stream of events comes in a list, an error mostly: its first
 * item is it.
 */
export function parseResponse(text: string): JsonObject | undefined {
  return parseObject(text) ?? parseObject(/^\s*\[([^]*)\]\s*$/.exec(text)?.[1] ?? '');
}

/** Google's error, also where it comes in a list: `[{"error": …}]`. */
function googleError(body: unknown): JsonObject | undefined {
  const error = member(Array.isArray(body) ? body[0] : body, 'error');
  return isObject(error) ? error : undefined;
}

/** `{"error":{code, status, message, details}}` (https://google.aip.dev/193) in OpenAI's shape. */
export function openAiError(body: unknown): unknown {
  const error = googleError(body);
  if (error === undefined) return body;
  const { message, status } = error;
  const code = codeOf(error);
  return {
    error: {
      message,
      ...(code !== undefined && { code }),
      ...(typeof status === 'string' && { type: status.toLowerCase() }),
    },
  };
}

/** What the error's own `code` says, where it came inside a 200. */
export function statusOf(body: unknown): number {
  const code = member(googleError(body), 'code');
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : 500;
}

/** How long the provider asks to be left alone, ms (google.rpc.RetryInfo). */
export function retryDelayMs(body: unknown): number | undefined {
  const delay = detailsOf(googleError(body)).flatMap((detail) => member(detail, 'retryDelay') ?? [])[0];
  const seconds = typeof delay === 'string' ? /^(\d{1,9}(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

function codeOf(error: JsonObject): string | undefined {
  return error['status'] === 'RESOURCE_EXHAUSTED' && isOfTheDay(error) ? 'insufficient_quota' : undefined;
}

/**
 * A quota that is not filled again before the next day, or is none at all: waiting does not help. Which quota it is stands in
 * google.rpc.QuotaFailure (`quotaId`) or google.rpc.ErrorInfo (`quota_limit`).
 */
function isOfTheDay(error: JsonObject): boolean {
  return detailsOf(error).some((detail) => {
    const violations = member(detail, 'violations');
    const metadata = member(detail, 'metadata');
    return (
      isDaily(member(metadata, 'quota_limit'), member(metadata, 'quota_limit_value')) ||
      (Array.isArray(violations) &&
        violations.some((violation) => isDaily(member(violation, 'quotaId'), member(violation, 'quotaValue'))))
    );
  });
}

function isDaily(name: unknown, value: unknown): boolean {
  return typeof name === 'string' && (/per_?day/i.test(name) || value === '0');
}

function detailsOf(error: JsonObject | undefined): readonly unknown[] {
  const details = error?.['details'];
  return Array.isArray(details) ? details : [];
}
