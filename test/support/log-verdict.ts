import type { LogMessage } from './conversation-rig.js';

/** What a client was told of one message. */
export interface SentMessage {
  readonly path: string;
  readonly content: string;
  isAcknowledged: boolean;
  /** Of a stream that was read to its `done`. */
  seen: string | undefined;
}

type AnswerOf = (content: string) => string;

/**
 * All that must not be in a log by what its clients were told: gaps, turns that mix, what was acknowledged and is not there.
 *
 * @param isTriedAnew whether turns may have been refused, which a log shows as failed, and then been asked for again
 */
export function logFaults(
  log: readonly LogMessage[],
  sent: readonly SentMessage[],
  answerOf: AnswerOf,
  isTriedAnew = false,
): readonly string[] {
  return [
    ...log.flatMap((message, at) => [...placeFaults(message, at), ...pairFaults(message, log[at - 1], answerOf)]),
    ...sent.flatMap((message) => sentFaults(message, log, isTriedAnew)),
  ];
}

function placeFaults({ seq, role, status }: LogMessage, at: number): readonly string[] {
  const where = ` at ${String(at + 1)}`;
  return [
    ...(seq === at + 1 ? [] : [`seq ${String(seq)}${where}`]),
    ...(role === (at % 2 === 0 ? 'user' : 'assistant') ? [] : [role + where]),
    ...(['complete', 'incomplete', 'failed'].includes(status) ? [] : [status + where]),
  ];
}

/** A reply is its question's own, and whole or the beginning of it. */
function pairFaults(message: LogMessage, question: LogMessage | undefined, answerOf: AnswerOf): readonly string[] {
  if (message.role !== 'assistant' || question === undefined) return [];
  const [answer, whole] = [String(message.content), answerOf(String(question.content))];
  const isRight = message.status === 'complete' ? answer === whole : whole.startsWith(answer);
  const isPair = message.turn_id === question.turn_id;
  return isRight && isPair ? [] : [`"${answer}" (${message.turn_id}) to ${String(question.content)}`];
}

/** What was acknowledged is there, once; what was read to its end is what is kept. */
function sentFaults(
  { content, isAcknowledged, seen }: SentMessage,
  log: readonly LogMessage[],
  isTriedAnew: boolean,
): readonly string[] {
  const tries = log.flatMap((message, at) => (message.role === 'user' && message.content === content ? [at] : []));
  const places = tries.filter((at) => !isTriedAnew || log[at + 1]?.status !== 'failed');
  const isThere = places.length === 1 || (places.length === 0 && !isAcknowledged);
  const isAsSeen = seen === undefined || log[(places[0] ?? -2) + 1]?.content === seen;
  return [
    ...(isThere ? [] : [`${content} is there ${String(places.length)} times`]),
    ...(isAsSeen ? [] : [`${content} was seen as "${seen}"`]),
  ];
}
