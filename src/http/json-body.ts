import { isUtf8 } from 'node:buffer';
import { ApiError } from './api-error.js';
import { jsonFaultAt } from './json-fault.js';

/** Deeper values overflow the stack of whoever walks or prints them later; real requests stay below 50. */
const MAX_DEPTH = 200;

export interface JsonBody {
  /** The body as it came, without a byte order mark. */
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a JSON body. A member called `__proto__` stays an own property of its object, as JSON.parse makes it: nothing is merged.
 * @throws ApiError `invalid_request` for an empty body, invalid UTF-8, malformed JSON (with its position), or too deep nesting
 */
export function parseJsonBody(body: Buffer): JsonBody {
  if (body.length === 0)
    throw new ApiError('invalid_request', 'the request body is empty: send JSON, or no content-type');
  if (!isUtf8(body)) throw new ApiError('invalid_request', 'the request body is not valid UTF-8');
  const text = withoutMark(body.toString('utf8'));
  const value = parse(text);
  if (isDeeperThan(value, MAX_DEPTH)) {
    throw new ApiError('invalid_request', `the request body is nested deeper than ${String(MAX_DEPTH)} levels`);
  }
  return { text, value };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_request', `the request body is not valid JSON: ${faultOf(text)}`, { cause });
  }
}

function faultOf(text: string): string {
  const at = jsonFaultAt(text) ?? text.length;
  if (at === text.length) return `it ends too early, at position ${String(at)}`;
  const line = text.slice(0, at).split('\n');
  const column = (line.at(-1)?.length ?? 0) + 1;
  const place = `position ${String(at)} (line ${String(line.length)}, column ${String(column)})`;
  return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))} at ${place}`;
}

// RFC 8259 section 8.1 lets a reader ignore a byte order mark; PowerShell's files have one.
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Level by level, not by recursion, which is what it protects from. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = containersIn([value]);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === limit) return true;
    level = level.flatMap((container) => containersIn(Object.values(container)));
  }
  return false;
}

function containersIn(values: readonly unknown[]): readonly object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}
