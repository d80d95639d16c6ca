import { isUsageOnly } from '../../wire/chat-chunk.js';
import { type Edit, editObject } from '../../wire/json-text.js';
import { parseObject } from '../../wire/json-value.js';

/** How one of several readers of an answer sees it. */
export interface ReaderView {
  /** It asked for usage in the stream. */
  readonly wantsUsage: boolean;
  /** Somebody else pays for it: its `usage.cost` is 0. */
  readonly isFree: boolean;
}

const DATA = 'data: ';
const END = '\n\n';

/** Whole frames of a stream, written with usage, as this reader sees them. */
export function viewFrames(frames: string, view: ReaderView): string {
  // Inside a JSON string its closing quote would be escaped: where this is, there is such a member.
  if ((view.wantsUsage && !view.isFree) || !frames.includes('"usage"')) return frames;
  return frames
    .split(END)
    .map((frame) => viewFrame(frame, view))
    .filter((frame) => frame !== undefined)
    .join(END);
}

/** A chat completion as its reader sees it. */
export function viewCompletion(text: string, { isFree }: Pick<ReaderView, 'isFree'>): string {
  return isFree ? editObject(text, { usage: withoutCost }) : text;
}

/** Undefined: it is not for this reader. */
function viewFrame(frame: string, { wantsUsage, isFree }: ReaderView): string | undefined {
  if (!frame.startsWith(DATA) || !frame.includes('"usage"')) return frame;
  const json = frame.slice(DATA.length);
  const value = parseObject(json);
  if (value === undefined || !Object.hasOwn(value, 'usage')) return frame;
  if (wantsUsage) return isFree ? `${DATA}${editObject(json, { usage: withoutCost })}` : frame;
  return isUsageOnly(value) ? undefined : `${DATA}${editObject(json, { usage: undefined })}`;
}

const withoutCost: Edit = (usage) =>
  usage?.startsWith('{') === true ? editObject(usage, { cost: (cost) => cost && '0' }) : usage;
