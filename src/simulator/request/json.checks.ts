import { invalidRequest } from '../provider.error.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object. @throws ProviderError in OpenAI's wording. */
export function objectAt(value: unknown, param: string): JsonObject {
  if (!isObject(value)) {
    throw invalidType(param, 'an object', value);
  }
  return value;
}

export function stringAt(value: unknown, param: string): string {
  if (typeof value !== 'string') {
    throw invalidType(param, 'a string', value);
  }
  return value;
}

/** A non-empty array of at most `most` items. */
export function arrayAt(value: unknown, param: string, most = Number.MAX_SAFE_INTEGER): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw invalidType(param, 'an array of objects', value);
  }
  const items: readonly unknown[] = value;
  if (items.length === 0) {
    const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
    throw invalidRequest(message, param, 'empty_array');
  }
  if (items.length > most) {
    const sizes = `maximum length ${String(most)}, but got an array with length ${String(items.length)} instead.`;
    throw invalidRequest(
      `Invalid '${param}': array too long. Expected an array with ${sizes}`,
      param,
      'array_above_max_length',
    );
  }
  return items;
}

/** One of the allowed strings. */
export function choiceAt<T extends string>(value: unknown, param: string, allowed: readonly T[]): T {
  const text = stringAt(value, param);
  const found = allowed.find((each) => each === text);
  if (found === undefined) {
    throw invalidValue(param, text, allowed);
  }
  return found;
}

/** The member, or undefined where it is absent or null: OpenAI takes null for "not given". */
export function memberOf(object: JsonObject, key: string): unknown {
  return object[key] ?? undefined;
}

export function optionalBoolean(object: JsonObject, key: string): boolean | undefined {
  const value = memberOf(object, key);
  if (value !== undefined && typeof value !== 'boolean') {
    throw invalidType(key, 'a boolean', value);
  }
  return value;
}

export interface NumberRange {
  readonly kind: 'integer' | 'decimal';
  readonly min?: number;
  readonly max?: number;
}

export function optionalNumber(object: JsonObject, key: string, range: NumberRange): number | undefined {
  const value = memberOf(object, key);
  if (value === undefined) {
    return undefined;
  }
  if (typeof value !== 'number' || (range.kind === 'integer' && !Number.isInteger(value))) {
    throw invalidType(key, range.kind === 'integer' ? 'an integer' : 'a decimal', value);
  }
  if (range.min !== undefined && value < range.min) {
    throw outOfRange(key, range.kind, ['below minimum', '>=', range.min, value]);
  }
  if (range.max !== undefined && value > range.max) {
    throw outOfRange(key, range.kind, ['above maximum', '<=', range.max, value]);
  }
  return value;
}

export function invalidValue(param: string, value: string, allowed: readonly string[]): Error {
  const quoted = allowed.map((each) => `'${each}'`);
  const last = quoted.pop() ?? '';
  const list = quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`;
  return invalidRequest(`Invalid value: '${value}'. Supported values are: ${list}.`, param, 'invalid_value');
}

export function invalidType(param: string, expected: string, value: unknown): Error {
  if (value === undefined) {
    return invalidRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  const message = `Invalid type for '${param}': expected ${expected}, but got ${nameOf(value)} instead.`;
  return invalidRequest(message, param, 'invalid_type');
}

function outOfRange(
  param: string,
  kind: string,
  [side, sign, bound, value]: readonly [string, string, number, number],
): Error {
  const message = `Invalid '${param}': ${kind} ${side} value. Expected a value ${sign} ${String(bound)}, but got ${String(value)} instead.`;
  return invalidRequest(message, param, `${kind}_${side.replace('imum', '').replace(' ', '_')}_value`);
}

function nameOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  if (typeof value === 'number') {
    return Number.isInteger(value) ? 'an integer' : 'a decimal';
  }
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
