import { GUARDED_MEMBERS, GuardedNames, type JsonObject } from '../../ai/index.js';
import { ApiError } from '../../http/index.js';
import { readMessages, type TurnInput } from '../turn/turn.ask.js';
import type { AnswerBody, TurnBody } from './turn.dto.js';

/** Members of a completion that a turn sets itself: they would plan its window for something else than what is sent. */
const OWN_MEMBERS: Readonly<Record<string, string>> = {
  messages: 'the conversation keeps the messages',
  content: 'what was said is answered again',
  tool_results: 'what was said is answered again',
  models: 'a window is planned for one model: name it as model',
  system: 'the conversation has the system prompt: change it there',
  stream_options: 'its events always tell the usage',
  role: 'what is said is a user’s',
  cache: 'turns are not cached',
};

/** What a request for an answer decides by its body; `user_id` and `message` are those of `POST /v1/chat`. */
export const TURN_NAMES = new GuardedNames([
  ...GUARDED_MEMBERS,
  ...Object.keys(OWN_MEMBERS),
  ...['user_id', 'message'],
]);

/** @throws ApiError invalid_request for members that are not a turn's to say */
export function checkMembers(body: AnswerBody): void {
  const param = Object.keys(OWN_MEMBERS).find((name) => isSaid(body, name));
  if (param === undefined) return;
  throw new ApiError('invalid_request', `${param} can't be given for a turn: ${String(OWN_MEMBERS[param])}`, { param });
}

function isSaid(body: object, name: string): boolean {
  const value: unknown = Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
  return value !== undefined && value !== null;
}

/** What a body says of a turn. @param param - the member that holds `content`, for errors @throws ApiError invalid_request */
export function inputOf({ content, tool_results: results, ...body }: TurnBody, param = 'content'): TurnInput {
  checkMembers(body);
  return {
    messages: readMessages(content, results, param),
    model: body.model ?? undefined,
    parameters: parametersOf(body),
    replaces: undefined,
  };
}

/** The members that go to the completion: not those that say how the answer is to be told, nor those that say nothing. */
export function parametersOf(body: AnswerBody): JsonObject {
  const { model: _model, stream: _stream, n: _n, ...rest } = body;
  const parameters: JsonObject = rest;
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
}

/** What two requests with one Idempotency-Key have in common; how the answer is told is none of it. */
export function identityOf(body: AnswerBody): JsonObject {
  const { stream: _stream, ...identity } = body;
  return { ...identity };
}
