import { isUtf8 } from 'node:buffer';
import { ApiError } from './api-error.js';
import { isNestedDeeper } from './json-depth.js';
import { jsonFaultAt } from './json-fault.js';

/** Deeper values overflow the stack of whoever walks them later, as class-transformer does; real requests stay below 50. */
const MAX_DEPTH = 200;

const NEWLINE = 0x0a;

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
  if (isNestedDeeper(text, MAX_DEPTH)) {
    throw new ApiError('invalid_request', `the request body is nested deeper than ${String(MAX_DEPTH)} levels`);
  }
  return { text, value: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('invalid_request', `the request body is not valid JSON: ${faultOf(text)}`, { cause });
  }
}

function faultOf(text: string): string {
  const { at, isFound } = jsonFaultAt(text) ?? { at: text.length, isFound: true };
  if (!isFound) return `the fault is somewhere behind position ${String(at)}`;
  if (at === text.length) return `it ends too early, at position ${String(at)}`;
  return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))} at ${placeOf(text, at)}`;
}

function placeOf(text: string, at: number): string {
  let line = 1;
  let lineStart = 0;
  for (let index = 0; index < at; index += 1) {
    if (text.charCodeAt(index) !== NEWLINE) continue;
    line += 1;
    lineStart = index + 1;
  }
  return `position ${String(at)} (line ${String(line)}, column ${String(at - lineStart + 1)})`;
}

// RFC 8259 section 8.1 lets a reader ignore a byte order mark; PowerShell's files have one.
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
