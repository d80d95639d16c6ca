import { Inject, Injectable } from '@nestjs/common';
import { toApiError } from '../../http/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import { parseChatRequest } from '../call/chat-request.js';
import type { CallReport, CompletionCall } from '../call/completion-call.js';
import { CompletionObserver } from '../call/completion.observer.js';
import { CompletionService } from '../call/completion.service.js';
import { type CallTerms, openCall } from '../endpoint/call.reader.js';
import { isObject, type JsonObject } from '../wire/json-value.js';

/** A completion that another module asks for on behalf of a caller. */
export interface GenerationRequest extends CallTerms {
  /** An OpenAI chat completion request; it is streamed, with usage, whatever it says of that. */
  readonly body: JsonObject;
  /** Ends the upstream call. */
  readonly signal: AbortSignal;
}

export interface Generation {
  /**
   * OpenAI's chunks as they come; they must be read to their end, or returned.
   *
   * @throws ApiError for a stream that could not be completed; the signal's reason when that ended it
   */
  readonly events: AsyncIterable<{ readonly chunk: JsonObject }>;
  /** Who answers; tokens and cost are there at the end. */
  readonly report: Readonly<CallReport>;
}

const DATA = 'data: ';

/**
 * Completions for other modules: routed, admitted, billed and written down as the caller's own requests are; never from the cache,
 * and never joined.
 */
@Injectable()
export class ChatGenerator {
  constructor(
    private readonly completions: CompletionService,
    private readonly observer: CompletionObserver,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  /**
   * Resolves once the first content is there.
   *
   * @throws ApiError for every failure before it; the signal's reason when it was aborted
   */
  async generate({ body: asked, signal, ...terms }: GenerationRequest): Promise<Generation> {
    const body = { ...asked, stream: true, stream_options: { include_usage: true } };
    const deadlineMs = Math.min(terms.deadlineMs, this.options.requestDeadlineMs);
    const bodyText = JSON.stringify(body);
    const request = parseChatRequest(body, bodyText);
    const call = openCall({ ...terms, request, bodyText, body, signal, deadlineMs }, (ended, error) => {
      this.observer.record(ended, error);
    });
    try {
      const { text } = await this.completions.stream(call);
      return { events: eventsIn(text, call), report: call.report };
    } catch (error) {
      call.ended(error);
      throw error;
    }
  }
}

/** Each piece of the text holds whole events, as ChunkWriter writes them: one line of data, and an empty one. */
async function* eventsIn(
  text: AsyncGenerator<string>,
  { report }: CompletionCall,
): AsyncGenerator<{ readonly chunk: JsonObject }> {
  for await (const piece of text) {
    for (const line of piece.split('\n')) {
      const chunk: unknown = line.startsWith(`${DATA}{`) ? JSON.parse(line.slice(DATA.length)) : undefined;
      if (isObject(chunk) && chunk['error'] === undefined) yield { chunk };
    }
  }
  // What went wrong is in the text for those who read it as it is; here it is thrown.
  const { failure } = report;
  if (failure !== undefined) throw failure instanceof Error ? failure : toApiError(failure);
}
