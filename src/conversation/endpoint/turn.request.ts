import type { JsonObject } from '../../ai/index.js';
import { readMessages, type TurnInput } from '../turn/turn.ask.js';
import type { AnswerBody, TurnBody } from './turn.dto.js';

/** What a body says of a turn. @param param - the member that holds `content`, for errors @throws ApiError invalid_request */
export function inputOf({ content, tool_results: results, ...body }: TurnBody, param = 'content'): TurnInput {
  return {
    messages: readMessages(content, results, param),
    model: body.model ?? undefined,
    parameters: parametersOf(body),
    replaces: undefined,
  };
}

/** The members that go to the completion: not those that say how the answer is to be told, nor those that say nothing. */
export function parametersOf(body: AnswerBody): JsonObject {
  const { model: _model, stream: _stream, stream_options: _options, n: _n, ...rest } = body;
  const parameters: JsonObject = rest;
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
}

/** What two requests with one Idempotency-Key have in common; how the answer is told is none of it. */
export function identityOf(body: AnswerBody): JsonObject {
  const { stream: _stream, stream_options: _options, ...identity } = body;
  return { ...identity };
}
