import { ApiError } from './api-error.js';

const MOST_SHOWN = 100;

/** A parameter behind a media type: its name, and its value in quotes or without (RFC 9110 section 5.6.6). */
const PARAMETER = /;[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"([^"\\]*)"|([^\s;"]*))/g;

/** Whether a body is announced as `application/json`, whatever stands behind it. */
export function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*application\/json\s*(?:;|$)/i.test(contentType);
}

/**
 * Why a body that is announced so can't be read: it is not `application/json`, or in another charset than JSON has (RFC 8259 section 8.1).
 */
export function mediaTypeFault(contentType: string | undefined): ApiError | undefined {
  if (contentType === undefined) return refusal('the content-type must be application/json: it is missing');
  if (!isJson(contentType)) return refusal(`the content-type must be application/json: not ${shown(contentType)}`);
  const charset = charsetsOf(contentType).find((name) => !/^utf-?8$/i.test(name));
  return charset === undefined ? undefined : refusal(`the charset of JSON must be utf-8: not ${shown(charset)}`);
}

function charsetsOf(contentType: string): readonly string[] {
  const parameters = [...contentType.matchAll(PARAMETER)];
  return parameters
    .filter(([, name]) => name?.toLowerCase() === 'charset')
    .map(([, , quoted, plain]) => quoted ?? plain ?? '');
}

function refusal(message: string): ApiError {
  return new ApiError('unsupported_media_type', message);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, MOST_SHOWN));
}
