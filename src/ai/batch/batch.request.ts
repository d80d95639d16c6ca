import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
  validateSync,
} from 'class-validator';
import { ApiError, validationError } from '../../http/index.js';
import { GUARDED_MEMBERS } from '../call/chat-request.js';
import { editItems, editObject } from '../wire/json-text.js';
import { isObject } from '../wire/json-value.js';

export const MOST_ITEMS = 1_000;
export const MOST_AT_ONCE = 50;
export const DEFAULT_AT_ONCE = 5;

/** What limits and budgets go by, and would be lost beside `requests`. */
const OF_ITEMS = GUARDED_MEMBERS.filter((name) => !['model', 'stream', 'stream_options'].includes(name));

/** The body of a batch, but for its items, which are judged one by one. */
class BatchRequest {
  // Decorators apply from the bottom up, and the first fault is the one that is told: the type stands last.
  @IsOptional()
  @MaxLength(256)
  @MinLength(1)
  @IsString()
  readonly model?: string | null;

  @ArrayMaxSize(MOST_ITEMS)
  @ArrayMinSize(1)
  @IsArray()
  readonly requests: readonly unknown[] = [];

  @IsOptional()
  @Max(MOST_AT_ONCE)
  @Min(1)
  @IsInt()
  readonly concurrency?: number | null;
}

/** One of a batch's requests. */
export interface BatchItem {
  /** Parsed; of whatever kind it is. */
  readonly body: unknown;
  /** The same as it arrived, with the batch's model where it names none. */
  readonly text: string;
}

/** Requests that were sent together. */
export interface Batch {
  readonly size: number;
  /** How many may be under way at one time. */
  readonly concurrency: number;
  /** Made when it is its turn: a batch may be large. */
  item(index: number): BatchItem;
}

/**
 * Reads a batch. What its items are is not looked at.
 *
 * @param body - the parsed JSON body
 * @param text - the same as it arrived
 * @throws ApiError invalid_request naming the first member at fault
 */
export function parseBatch(body: unknown, text: string): Batch {
  if (!isObject(body)) throw new ApiError('invalid_request', 'the body must be a JSON object');
  const misplaced = OF_ITEMS.find((name) => (body[name] ?? undefined) !== undefined);
  if (misplaced !== undefined)
    throw new ApiError('invalid_request', `${misplaced} belongs into each of requests`, { param: misplaced });
  const { model, requests, concurrency } = body;
  const batch = Object.assign(new BatchRequest(), { model, requests, concurrency });
  const faults = validateSync(batch, { stopAtFirstError: true });
  if (faults.length > 0) throw validationError(faults.slice(0, 1));
  const texts = textsOf(text);
  return {
    size: batch.requests.length,
    concurrency: batch.concurrency ?? DEFAULT_AT_ONCE,
    item: (index) => withModel({ body: batch.requests[index], text: texts[index] ?? '' }, batch.model ?? undefined),
  };
}

/** The requests as they were written. Where a member stands there twice the last one counts, as for `JSON.parse`. */
function textsOf(text: string): readonly string[] {
  let texts: string[] = [];
  editObject(text, {
    requests: (requests = '[]') => {
      texts = [];
      return editItems(requests, (item) => {
        texts.push(item);
        return '';
      });
    },
  });
  return texts;
}

function withModel({ body, text }: BatchItem, model: string | undefined): BatchItem {
  const isUnnamed = isObject(body) && (body['model'] ?? body['models'] ?? undefined) === undefined;
  if (!isUnnamed || model === undefined) return { body, text };
  return { body: { ...body, model }, text: editObject(text, { model: JSON.stringify(model) }) };
}
