import { wantsUsage } from '../call/chat-request.js';
import type { CompletionCall } from '../call/completion-call.js';
import type { RouteReason } from '../route/obstacle.js';
import { asCompletion, asFrames } from './recording/recording.forms.js';
import { type ReaderView, viewFrames } from './recording/reader.view.js';
import type { AnswerFacts, Recording } from './recording/recording.js';

/** How an answer that may be somebody else's is given to a call. */
export interface Giving {
  /** The whole answer in the form that this call asked for. @param isFree - somebody else has made the call */
  recording(recording: Recording, call: CompletionCall, isFree: boolean): Recording;
  /** A part of a stream: some of its events. */
  frames(frames: string, call: CompletionCall, isFree: boolean): string;
  /** Why that model answers this call. */
  route(facts: AnswerFacts): RouteReason;
  /** It is the answer of this very request, which was sent before. */
  readonly isReplay: boolean;
}

/** As each caller asked for it: as a stream or not, with or without usage, and with no cost for what somebody else pays. */
export function givingOnce(route: Giving['route']): Giving {
  return {
    isReplay: false,
    route,
    recording(recording, call, isFree) {
      const isStream = call.request.stream === true;
      const text = isStream ? asFrames(recording, viewOf(call, isFree)) : asCompletion(recording, viewOf(call, isFree));
      return { ...recording, kind: isStream ? 'stream' : 'json', text };
    },
    frames: (frames, call, isFree) => viewFrames(frames, viewOf(call, isFree)),
  };
}

/** Byte for byte as it was given the first time. */
export const givingAgain: Giving = {
  isReplay: true,
  route: ({ route }) => route,
  recording: (recording) => recording,
  frames: (frames) => frames,
};

function viewOf({ request }: CompletionCall, isFree: boolean): ReaderView {
  return { wantsUsage: wantsUsage(request), isFree };
}
