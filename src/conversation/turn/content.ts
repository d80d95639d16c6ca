import { isObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';

/** What a message says, well-formed. */
export interface Content {
  /** Text, or JSON of OpenAI's content parts. */
  readonly content: string;
  readonly isJson: boolean;
}

/**
 * Reads text or content parts: lone surrogates become U+FFFD, NUL goes.
 *
 * @param param - names the member in errors
 * @throws ApiError invalid_request for anything else, and for what says nothing
 */
export function readContent(value: unknown, param: string): Content {
  const content = readAnyContent(value, param);
  if (!content.isJson && content.content.trim() === '') {
    throw new ApiError('invalid_request', `${param} must say something: it is empty`, { param });
  }
  return content;
}

/** As readContent(), but it may be empty: a tool may have nothing to say. @throws ApiError invalid_request */
export function readAnyContent(value: unknown, param: string): Content {
  if (typeof value === 'string') return { content: wellFormed(value), isJson: false };
  if (!Array.isArray(value) || value.length === 0) {
    throw new ApiError('invalid_request', `${param} must be a text or a list of content parts`, { param });
  }
  const parts = value.map((part, at) => readPart(part, `${param}[${String(at)}]`));
  if (parts.every(isEmptyText)) {
    throw new ApiError('invalid_request', `${param} must say something: all of its parts are empty`, { param });
  }
  return { content: JSON.stringify(parts), isJson: true };
}

/** Without lone surrogates, which no store and no provider takes, and without NUL. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '');
}

/** The same for every text in a JSON value. */
export function wellFormedJson(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), wellFormedJson(item)]));
}

function readPart(part: unknown, param: string): unknown {
  if (!isObject(part) || typeof part['type'] !== 'string') {
    throw new ApiError('invalid_request', `${param} must be an object with a type`, { param });
  }
  if (part['type'] === 'text' && typeof part['text'] !== 'string') {
    throw new ApiError('invalid_request', `${param}.text must be a string`, { param: `${param}.text` });
  }
  return wellFormedJson(part);
}

function isEmptyText(part: unknown): boolean {
  return isObject(part) && part['type'] === 'text' && String(part['text']).trim() === '';
}
