import { isObject, type JsonObject, member } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';
import { inlineData, mediaOf } from './media.js';

/** Content that is text only; an empty text is no part. @throws UntranslatableError */
export function textPartsOf(content: unknown, path: string): readonly { readonly text: string }[] {
  if (!isGiven(content)) return [];
  const texts =
    typeof content === 'string' ? [{ text: content }] : listOf(content, path).map(([part, at]) => textPart(part, at));
  return texts.filter(({ text }) => text !== '');
}

/** A user's content; an empty text is no part. @throws UntranslatableError */
export function partsOf(content: unknown, path: string): readonly JsonObject[] {
  if (!Array.isArray(content)) return textPartsOf(content, path);
  const parts = listOf(content, path).map(([part, at]) => {
    switch (part['type']) {
      case 'image_url':
        return imagePart(part, at);
      case 'input_audio':
        return audioPart(part, at);
      case 'file':
        return filePart(part, at);
      default:
        return textPart(part, at);
    }
  });
  return parts.filter((part) => part.text !== '');
}

function listOf(content: unknown, path: string): readonly (readonly [part: JsonObject, path: string])[] {
  if (!Array.isArray(content)) throw new UntranslatableError(path, 'must be a string or a list of parts');
  return content.map((part: unknown, index) => {
    const at = `${path}[${String(index)}]`;
    if (!isObject(part)) throw new UntranslatableError(at, 'must be a part with a type');
    return [part, at] as const;
  });
}

function textPart(part: JsonObject, path: string): { readonly text: string } {
  switch (part['type']) {
    case 'text':
      refuseOthers(part, `${path}.`, ['type', 'text']);
      return { text: textOf(part['text'], `${path}.text`) };
    case 'refusal':
      refuseOthers(part, `${path}.`, ['type', 'refusal']);
      return { text: textOf(part['refusal'], `${path}.refusal`) };
    default:
      throw new UntranslatableError(`${path}.type`, `${JSON.stringify(part['type'])} ${NO_COUNTERPART}`);
  }
}

function imagePart(part: JsonObject, path: string): JsonObject {
  refuseOthers(part, `${path}.`, ['type', 'image_url']);
  const image = part['image_url'];
  if (!isObject(image)) throw new UntranslatableError(`${path}.image_url`, 'must be an object with a url');
  refuseOthers(image, `${path}.image_url.`, ['url', 'detail']);
  return mediaOf(textOf(image['url'], `${path}.image_url.url`), `${path}.image_url.url`);
}

function audioPart(part: JsonObject, path: string): JsonObject {
  refuseOthers(part, `${path}.`, ['type', 'input_audio']);
  const audio = part['input_audio'];
  if (!isObject(audio)) throw new UntranslatableError(`${path}.input_audio`, 'must be an object with data');
  refuseOthers(audio, `${path}.input_audio.`, ['data', 'format']);
  const format = textOf(audio['format'], `${path}.input_audio.format`);
  return inlineData(`audio/${format}`, textOf(audio['data'], `${path}.input_audio.data`));
}

/** A file that the caller has given to OpenAI is out of reach; its name says nothing to the model. */
function filePart(part: JsonObject, path: string): JsonObject {
  refuseOthers(part, `${path}.`, ['type', 'file']);
  const file = part['file'];
  if (!isObject(file)) throw new UntranslatableError(`${path}.file`, 'must be an object with file_data');
  refuseOthers(file, `${path}.file.`, ['file_data', 'filename']);
  return mediaOf(textOf(file['file_data'], `${path}.file.file_data`), `${path}.file.file_data`);
}

export type MediaResolution = 'MEDIA_RESOLUTION_LOW' | 'MEDIA_RESOLUTION_HIGH';

/** One for all images there: the closest look that any of them asks for, where `auto` is more than `low`. @throws UntranslatableError */
export function mediaResolutionOf(messages: readonly unknown[]): MediaResolution | undefined {
  const details = messages.flatMap((message, index) => detailsIn(message, `messages[${String(index)}]`));
  if (details.includes('high')) return 'MEDIA_RESOLUTION_HIGH';
  return details.length > 0 && details.every((detail) => detail === 'low') ? 'MEDIA_RESOLUTION_LOW' : undefined;
}

function detailsIn(message: unknown, path: string): readonly string[] {
  const content = member(message, 'content');
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown, index) => {
    if (member(part, 'type') !== 'image_url') return [];
    const detail = member(member(part, 'image_url'), 'detail') ?? 'auto';
    if (detail === 'auto' || detail === 'low' || detail === 'high') return [detail];
    const at = `${path}.content[${String(index)}].image_url.detail`;
    throw new UntranslatableError(at, `${JSON.stringify(detail)} ${NO_COUNTERPART}`);
  });
}
