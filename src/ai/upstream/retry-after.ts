/** Header values as undici gives them. */
export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * How long a provider asks us to wait, ms: `retry-after-ms` (OpenAI, Azure), `x-ms-retry-after-ms` (Azure), `retry-after` in
 * seconds or as an HTTP date (RFC 9110, 10.2.3). Undefined where there is none, or none that makes sense.
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
  const ms = Math.ceil(Number(text) * unitMs);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

function untilDate(value: string | string[] | undefined, now: number): number | undefined {
  const text = single(value);
  // Date.parse takes `-1` and `2030` for years: an HTTP date starts with its weekday.
  if (text === undefined || !/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
