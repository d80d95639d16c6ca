/** Header values as undici gives them. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Whoever asks for more means "not today": a year, ms. */
export const LONGEST_RETRY_AFTER_MS = 31_536_000_000;

/**
 * How long a provider asks us to wait, ms, at most a year: `retry-after-ms` (OpenAI, Azure), `x-ms-retry-after-ms` (Azure),
 * `retry-after` in seconds or as an HTTP date (RFC 9110, 10.2.3). Undefined where there is none, or none that makes sense.
 *
 * @param now - Unix milliseconds, for the date form
 */
export function retryAfterMs(headers: UpstreamHeaders, now: number): number | undefined {
  return (
    nonNegative(headers['retry-after-ms'], 1) ??
    nonNegative(headers['x-ms-retry-after-ms'], 1) ??
    nonNegative(headers['retry-after'], 1_000) ??
    untilDate(headers['retry-after'], now)
  );
}

function nonNegative(value: string | string[] | undefined, unitMs: number): number | undefined {
  const text = single(value);
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text)) return undefined;
  // 0.058 s are 58 ms, not the 59 that binary fractions make of it.
  const ms = Number((Number(text) * unitMs).toFixed(3));
  return Math.min(Math.ceil(ms), LONGEST_RETRY_AFTER_MS);
}

/** RFC 9110, 5.6.7: an IMF-fixdate, and the obsolete ones of RFC 850 and of asctime(), which has no zone and means GMT. */
const WITH_ZONE = /^[A-Z][a-z]{2,8}, .* GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

function untilDate(value: string | string[] | undefined, now: number): number | undefined {
  const text = single(value);
  if (text === undefined) return undefined;
  const at = WITH_ZONE.test(text) ? Date.parse(text) : ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), LONGEST_RETRY_AFTER_MS);
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
