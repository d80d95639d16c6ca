import type { ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** OpenAI's bounds of an object's metadata. */
const MOST_PAIRS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;

const LONE_SURROGATE = /\p{Surrogate}/u;

const RULE = `metadata must be at most ${String(MOST_PAIRS)} texts of at most ${String(LONGEST_VALUE)} characters, under names of at most ${String(LONGEST_KEY)}, without half of a surrogate pair`;

export const METADATA_SCHEMA = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: LONGEST_VALUE },
  maxProperties: MOST_PAIRS,
  example: { user: '4711' },
} as const satisfies ApiPropertyOptions;

/** Few short texts by short names. */
export function IsMetadata(): PropertyDecorator {
  return ValidateBy({
    name: 'isMetadata',
    validator: { validate: (value: unknown) => isMetadata(value), defaultMessage: () => RULE },
  });
}

/** A text without lone surrogates: of two that differ in nothing else, one could not be told from the other. */
export function IsWellFormed(): PropertyDecorator {
  return ValidateBy({
    name: 'isWellFormed',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && !LONE_SURROGATE.test(value),
      defaultMessage: () => 'half of a surrogate pair is no text',
    },
  });
}

function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  return (
    entries.length <= MOST_PAIRS &&
    entries.every(([key, text]) => isText(key, LONGEST_KEY) && isText(text, LONGEST_VALUE))
  );
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === 'string' && value.length <= longest && !LONE_SURROGATE.test(value);
}
