import { ChatRequest } from '../call/chat-request.js';
import type { CompletionCall } from '../call/completion-call.js';
import type { Preview } from '../call/completion.router.js';
import type { CompletionService } from '../call/completion.service.js';
import type { Delivery } from './flight/flight.plan.js';
import type { AnswerFacts } from './recording/recording.js';

/**
 * Makes the call; its `ended` is told how it went, on every way out.
 *
 * @param preview - its plan, where it was just made
 * @throws as CompletionService does
 */
export async function makeCall(
  completions: CompletionService,
  call: CompletionCall,
  preview?: Preview,
): Promise<Delivery> {
  try {
    if (call.request.stream === true) {
      const { text: frames, headers } = await completions.stream(call, preview);
      return { kind: 'live', frames, facts: factsOf(call), headers };
    }
    const { text, headers } = await completions.complete(call, preview);
    call.ended();
    return { kind: 'whole', recording: { kind: 'json', text, ...factsOf(call) }, headers };
  } catch (error) {
    call.ended(error);
    throw error;
  }
}

/** For all who may read its stream: who did not ask for usage is given none. */
export function withUsage(call: CompletionCall): CompletionCall {
  const { request } = call;
  if (request.stream !== true) return call;
  const stream_options = { ...request.stream_options, include_usage: true };
  return { ...call, request: Object.assign(new ChatRequest(), request, { stream_options }) };
}

function factsOf({ report, trace }: CompletionCall): AnswerFacts {
  const { model = '', provider = '', route = 'requested' } = report;
  const facts = { model, provider, route };
  return trace === undefined ? facts : { trace: { traceId: trace.traceId, spanId: trace.spanId }, ...facts };
}
