import { isObject, parseObject } from '../../wire/json-value.js';
import { completionOfFrames } from './chunk.collector.js';
import { framesOfCompletion } from './completion.chunks.js';
import type { Recording } from './recording.js';
import { type ReaderView, viewCompletion, viewFrames } from './reader.view.js';

/** Whether an answer can be given as a stream, or as a whole, without a loss. */
export function canBeGiven({ kind, text }: Recording, asStream: boolean): boolean {
  if (asStream) return kind === 'stream' || framesOfCompletion(text) !== undefined;
  return kind === 'json' || completionOfFrames(text) !== undefined;
}

/** All events of a stream that says what was recorded. @throws TypeError where it can't be given so */
export function asFrames({ kind, text }: Recording, view: ReaderView): string {
  return viewFrames(given(kind === 'stream' ? text : framesOfCompletion(text)), view);
}

/** A chat completion that says what was recorded. @throws TypeError where it can't be given so */
export function asCompletion({ kind, text }: Recording, view: ReaderView): string {
  return viewCompletion(given(kind === 'json' ? text : completionOfFrames(text)), view);
}

/** Whether the model came to an end of its own, or to the limit that it was given: of half an answer nobody says why it ended. */
export function isComplete({ kind, text }: Recording): boolean {
  // A stream is recorded only once it has come to its regular end.
  if (kind === 'stream') return true;
  const choices = parseObject(text)?.['choices'];
  return (
    Array.isArray(choices) &&
    choices.length > 0 &&
    choices.every((choice) => isObject(choice) && typeof choice['finish_reason'] === 'string')
  );
}

function given(text: string | undefined): string {
  if (text === undefined) throw new TypeError('this recording has no such form');
  return text;
}
