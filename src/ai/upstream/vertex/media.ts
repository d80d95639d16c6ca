import { entryOf, type JsonObject } from '../../wire/json-value.js';
import { UntranslatableError } from '../untranslatable.error.js';

/** A file must come with its type there, and a URL tells it by its ending at best. */
const TYPES: Readonly<Partial<Record<string, string>>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  mov: 'video/mov',
  webm: 'video/webm',
};

const DATA_URL = /^data:([^;,]+)((?:;[^;,]*)*),/i;

/**
 * The part for a file at a `data:`, `https:` or `gs:` URL.
 *
 * @throws UntranslatableError where the URL is none of these, or does not tell the file's type
 */
export function mediaOf(url: string, path: string): JsonObject {
  const [head, type = '', parameters = ''] = DATA_URL.exec(url) ?? [];
  if (head === undefined) return { fileData: { fileUri: url, mimeType: typeByEnding(url, path) } };
  const data = url.slice(head.length);
  return inlineData(type.toLowerCase(), /;base64$/i.test(parameters) ? data : encoded(data, path));
}

function typeByEnding(url: string, path: string): string {
  if (!/^(https|gs):\/\//i.test(url) || !URL.canParse(url))
    throw new UntranslatableError(path, 'must be a data:, https: or gs: URL with a type');
  const ending = /\.([a-z0-9]+)$/i.exec(new URL(url).pathname)?.[1] ?? '';
  const mimeType = entryOf(TYPES, ending.toLowerCase());
  if (mimeType === undefined)
    throw new UntranslatableError(path, 'must end as its type does (.png, .jpg, .pdf, …), which has to be told there');
  return mimeType;
}

/** @param data - in base64 */
export function inlineData(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

function encoded(data: string, path: string): string {
  try {
    return Buffer.from(decodeURIComponent(data)).toString('base64');
  } catch (error) {
    if (error instanceof URIError) throw new UntranslatableError(path, 'must be a URL whose text is encoded');
    throw error;
  }
}
