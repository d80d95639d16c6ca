import { createHash } from 'node:crypto';
import { readTerms } from '../../ai/index.js';
import { ApiError, clientSignal } from '../../http/index.js';
import type { ConversationSettings } from '../conversation.options.js';
import type { Place, TurnKey } from '../store/index.js';
import { bodyHash, type TurnAsk } from '../turn/turn.ask.js';
import { readIfMatch } from './etag.js';
import type { Exchange } from './exchange.decorator.js';
import { TURN_NAMES } from './turn.request.js';

const LONGEST_KEY = 255;

/** What is read beside the body. */
export interface AskReading {
  readonly place: Place;
  readonly waits: boolean;
  /** What an Idempotency-Key stands for. */
  readonly asked: readonly unknown[];
  readonly settings: Pick<ConversationSettings, 'requestDeadlineMs' | 'idempotencyMs'>;
}

/**
 * Reads off a request how a turn is asked for.
 *
 * @throws ApiError invalid_request
 */
export function readAsk({ request, reply }: Exchange, reading: AskReading): TurnAsk {
  const { place, waits, settings, asked } = reading;
  TURN_NAMES.check(request.bodyText ?? '');
  const terms = readTerms(request, settings.requestDeadlineMs);
  return {
    place,
    terms,
    endsAt: performance.now() + terms.deadlineMs,
    key: readKey(request.headers['idempotency-key'], bodyHash(...asked), settings.idempotencyMs),
    ifVersion: readIfMatch(request.headers['if-match']),
    waits,
    signal: clientSignal(request, reply),
  };
}

function readKey(header: string | string[] | undefined, hash: string, keepMs: number): TurnKey | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || header.trim() === '' || header.length > LONGEST_KEY) {
    const message = `Idempotency-Key must be one text of at most ${String(LONGEST_KEY)} characters`;
    throw new ApiError('invalid_request', message, { param: 'Idempotency-Key' });
  }
  return { hash: createHash('sha256').update(header).digest('base64url'), bodyHash: hash, keepMs };
}
