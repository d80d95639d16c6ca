import type { ToolCall } from '../request/chat.messages.js';
import { envelope, type Completion } from './completion.js';
import type { PlannedChoice } from './reply.planner.js';
import { streamPieces } from './reply.text.js';

/** One write of a reply, and how much of the reply has been generated when it is due. */
export interface Frame {
  readonly text: string;
  /** Tokens since the first one, about. */
  readonly position: number;
  /** What it adds to a choice. */
  readonly said?: { readonly choice: number; readonly text: string };
}

export const DONE_FRAME = 'data: [DONE]\n\n';

/**
 * The frames of a stream. With `n` > 1 the choices take turns. `usage: null` is on every chunk, and the usage on one more without choices, only if
 * the caller asked (`stream_options.include_usage`).
 */
export function* completionFrames(completion: Completion, includesUsage: boolean): Generator<Frame> {
  const head = envelope(completion, 'chat.completion.chunk');
  const tellsUsage = includesUsage && completion.usage !== undefined;
  const chunk = (choices: readonly object[], usage: unknown): string =>
    dataFrame({ ...head, choices, ...(tellsUsage && { usage }) });

  const streams = completion.choices.map((choice, index) => choiceDeltas(choice, index));
  let position = 0;
  while (streams.length > 0) {
    for (const stream of [...streams]) {
      const next = stream.next();
      if (next.done === true) {
        streams.splice(streams.indexOf(stream), 1);
      } else {
        const { delta, text, choice } = next.value;
        yield { text: chunk([delta], null), position, said: { choice, text } };
      }
    }
    position += 1;
  }
  if (tellsUsage) {
    yield { text: chunk([], completion.usage), position };
  }
  yield { text: DONE_FRAME, position };
}

export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

interface ChoiceDelta {
  readonly choice: number;
  /** As it stands in the chunk. */
  readonly delta: object;
  /** What it says. */
  readonly text: string;
}

function* choiceDeltas(choice: PlannedChoice, index: number): Generator<ChoiceDelta> {
  const of = (delta: object, text = '', finishReason: string | null = null): ChoiceDelta => ({
    choice: index,
    delta: { index, delta, logprobs: null, finish_reason: finishReason },
    text,
  });
  if (choice.toolCalls.length > 0) {
    yield of({ role: 'assistant', content: null, refusal: null });
    for (const [place, call] of choice.toolCalls.entries()) {
      for (const { delta, text } of toolCallDeltas(call, place)) {
        yield of({ tool_calls: [delta] }, text);
      }
    }
  } else {
    yield of({ role: 'assistant', content: '', refusal: null });
    for (const content of streamPieces(choice.text)) {
      yield of({ content }, content);
    }
  }
  yield of({}, '', choice.finishReason);
}

/** The name comes with the first fragment, the arguments in pieces that are no JSON by themselves. */
function* toolCallDeltas(call: ToolCall, index: number): Generator<Pick<ChoiceDelta, 'delta' | 'text'>> {
  const { id, name } = call;
  yield { delta: { index, id, type: 'function', function: { name, arguments: '' } }, text: name };
  for (const piece of streamPieces(call.arguments)) {
    yield { delta: { index, function: { arguments: piece } }, text: piece };
  }
}
