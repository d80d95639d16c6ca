import { isObject, type JsonObject, member } from '../../wire/json-value.js';
import type { TranslatedError } from '../provider.line.js';

/** Google's error, also where it comes in a list: `[{"error": …}]`. */
function googleError(body: unknown): JsonObject | undefined {
  const error = member(Array.isArray(body) ? body[0] : body, 'error');
  return isObject(error) ? error : undefined;
}

/** `{"error":{code, status, message, details}}` (https://google.aip.dev/193) in OpenAI's shape. */
export function openAiError(body: unknown): TranslatedError {
  const error = googleError(body);
  if (error === undefined) return { body };
  const { message, status, details } = error;
  const code = codeOf(error);
  const said = {
    message,
    ...(code !== undefined && { code }),
    ...(typeof status === 'string' && { type: status.toLowerCase() }),
    // What an answer's status would say, for errors that come inside a 200.
    status: error['code'],
    details,
  };
  return { body: { error: said }, retryAfterMs: retryDelayMs(error) };
}

/** How long the provider is to be left alone, ms: what it asks for (google.rpc.RetryInfo), or longer where that can't be enough. */
function retryDelayMs(error: JsonObject): number | undefined {
  if (isExhausted(error, isLongGone)) return EXHAUSTED_MS;
  const delay = detailsOf(error).flatMap((detail) => member(detail, 'retryDelay') ?? [])[0];
  const seconds = typeof delay === 'string' ? /^(\d{1,9}(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

/** A quota that is not filled again before the next day is asked about once an hour: it may be raised meanwhile. */
const EXHAUSTED_MS = 3_600_000;

function codeOf(error: JsonObject): string | undefined {
  return isExhausted(error, isOfKey) ? 'insufficient_quota' : undefined;
}

/** A quota that was exceeded. */
interface Quota {
  readonly name: string;
  readonly value: unknown;
  readonly isOfModel: boolean;
}

/** All that the key may call is gone for the day. */
function isOfKey(quota: Quota): boolean {
  return isDaily(quota) && !isLongGone(quota);
}

/** One model is gone for the day, or is not to be had at all: the key still serves for others. */
function isLongGone(quota: Quota): boolean {
  return quota.value === '0' || (isDaily(quota) && quota.isOfModel);
}

function isDaily({ name }: Quota): boolean {
  return /per_?day/i.test(name);
}

function isExhausted(error: JsonObject, predicate: (quota: Quota) => boolean): boolean {
  return error['status'] === 'RESOURCE_EXHAUSTED' && quotasOf(error).some(predicate);
}

/** Which quota it is stands in google.rpc.QuotaFailure (`quotaId`) or google.rpc.ErrorInfo (`quota_limit`). */
function quotasOf(error: JsonObject): readonly Quota[] {
  return detailsOf(error).flatMap((detail) => {
    const violations = member(detail, 'violations');
    const metadata = member(detail, 'metadata');
    return [
      ...quotaOf(member(metadata, 'quota_limit'), member(metadata, 'quota_limit_value')),
      ...(Array.isArray(violations) ? violations : []).flatMap((violation: unknown) =>
        quotaOf(member(violation, 'quotaId'), member(violation, 'quotaValue'), member(violation, 'quotaDimensions')),
      ),
    ];
  });
}

function quotaOf(name: unknown, value: unknown, dimensions?: unknown): readonly Quota[] {
  if (typeof name !== 'string') return [];
  const isOfModel =
    /per_?(base_?)?model/i.test(name) || ['model', 'base_model'].some((key) => member(dimensions, key) !== undefined);
  return [{ name, value, isOfModel }];
}

function detailsOf({ details }: JsonObject): readonly unknown[] {
  return Array.isArray(details) ? details : [];
}
