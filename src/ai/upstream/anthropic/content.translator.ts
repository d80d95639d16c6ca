import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, UntranslatableError, refuseOthers, textOf } from '../untranslatable.error.js';

/** A content block of the Messages API. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** What the Messages API takes as an inline image (https://platform.claude.com/docs/en/build-with-claude/vision). */
const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/;

/**
 * OpenAI's content, text or parts, as blocks. A text of blanks becomes no block: the Messages API takes none,
 * and it says nothing.
 *
 * @throws UntranslatableError for what is neither, and for parts of other kinds
 */
export function blocksOf(content: unknown, path: string): readonly Block[] {
  if (!isGiven(content)) return [];
  if (typeof content === 'string') return textBlock({}, content, path);
  if (!Array.isArray(content)) throw new UntranslatableError(path, 'must be a string or a list of parts');
  return content.flatMap((part: unknown, index) => blockOf(part, `${path}[${String(index)}]`));
}

/** The same, where only text may stand. */
export function textBlocksOf(content: unknown, path: string): readonly Block[] {
  const blocks = blocksOf(content, path);
  const at = blocks.findIndex(({ type }) => type !== 'text');
  if (at !== -1) throw new UntranslatableError(path, 'may hold text only');
  return blocks;
}

function blockOf(part: unknown, path: string): readonly Block[] {
  if (!isObject(part)) throw new UntranslatableError(path, 'must be a part with a type');
  switch (part['type']) {
    case 'text':
      refuseOthers(part, `${path}.`, ['type', 'text', 'cache_control']);
      return textBlock(part, part['text'], `${path}.text`);
    case 'refusal':
      refuseOthers(part, `${path}.`, ['type', 'refusal']);
      return textBlock(part, part['refusal'], `${path}.refusal`);
    case 'image_url':
      refuseOthers(part, `${path}.`, ['type', 'image_url', 'cache_control']);
      return [{ type: 'image', source: imageSource(part['image_url'], `${path}.image_url`), ...cacheControl(part) }];
    case 'file':
      refuseOthers(part, `${path}.`, ['type', 'file', 'cache_control']);
      return [{ type: 'document', ...document(part['file'], `${path}.file`), ...cacheControl(part) }];
    default:
      throw new UntranslatableError(`${path}.type`, `${JSON.stringify(part['type'])} ${NO_COUNTERPART}`);
  }
}

function textBlock(part: JsonObject, value: unknown, path: string): readonly Block[] {
  const text = textOf(value, path);
  return text.trim() === '' ? [] : [{ type: 'text', text, ...cacheControl(part) }];
}

/** Anthropic's own member, which others write on OpenAI's parts too: where its prompt cache may cut. */
export function cacheControl(part: JsonObject): { readonly cache_control?: unknown } {
  return isGiven(part['cache_control']) ? { cache_control: part['cache_control'] } : {};
}

function imageSource(image: unknown, path: string): unknown {
  if (!isObject(image)) throw new UntranslatableError(path, 'must be an object with a url');
  refuseOthers(image, `${path}.`, ['url', 'detail']);
  // It always looks as closely as the image allows.
  if (![undefined, null, 'auto', 'high'].some((detail) => detail === image['detail'])) {
    throw new UntranslatableError(`${path}.detail`, NO_COUNTERPART);
  }
  const url = textOf(image['url'], `${path}.url`);
  if (/^https:\/\//i.test(url)) return { type: 'url', url };
  const [head, mediaType] = DATA_URL.exec(url) ?? [];
  if (head === undefined || mediaType === undefined || !IMAGE_TYPES.includes(mediaType.toLowerCase())) {
    throw new UntranslatableError(
      `${path}.url`,
      `must be an https URL or a base64 data URL of ${IMAGE_TYPES.join(', ')}`,
    );
  }
  return { type: 'base64', media_type: mediaType.toLowerCase(), data: url.slice(head.length) };
}

function document(file: unknown, path: string): Readonly<Record<string, unknown>> {
  if (!isObject(file)) throw new UntranslatableError(path, 'must be an object with file_data');
  refuseOthers(file, `${path}.`, ['file_data', 'filename']);
  const url = textOf(file['file_data'], `${path}.file_data`);
  const [head, mediaType] = DATA_URL.exec(url) ?? [];
  if (head === undefined || mediaType?.toLowerCase() !== 'application/pdf') {
    throw new UntranslatableError(`${path}.file_data`, 'must be a base64 data URL of application/pdf');
  }
  const title = isGiven(file['filename']) ? { title: textOf(file['filename'], `${path}.filename`) } : {};
  return { source: { type: 'base64', media_type: 'application/pdf', data: url.slice(head.length) }, ...title };
}
