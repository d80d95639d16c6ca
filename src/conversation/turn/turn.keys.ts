import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONVERSATION_STORE } from '../conversation.options.js';
import type { ConversationStore, Turn } from '../store/index.js';
import type { TurnAsk } from './turn.ask.js';
import { isRefusal } from './turn.errors.js';
import { sameTurn } from './turn.starter.js';

/** Under one key; whoever was refused more often is told the last refusal. */
const MOST_TRIES = 100;

/** What an Idempotency-Key stands for by now. */
export interface KeyedAsk {
  /** As it goes on from here. */
  readonly ask: TurnAsk;
  /** Undefined: nothing was asked with the key, or all of it was refused. */
  readonly known: Turn | undefined;
  /** The last one that was refused under it. */
  readonly refused: Turn | undefined;
}

/**
 * Finds turns by Idempotency-Key. One that was refused for lack of room or quota may be asked for again: each such try has a key of
 * its own, made of the one before and the turn that was refused, so that of several repetitions at once still one is made.
 */
@Injectable()
export class TurnKeys {
  constructor(@Inject(CONVERSATION_STORE) private readonly store: Pick<ConversationStore, 'findKeyed'>) {}

  /** @throws ApiError idempotency_mismatch */
  async read(asked: TurnAsk): Promise<KeyedAsk> {
    let ask = asked;
    let refused: Turn | undefined;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const keyed = ask.key === undefined ? undefined : await this.store.findKeyed(ask.place, ask.key);
      const known = keyed === undefined ? undefined : sameTurn(keyed);
      if (known === undefined || !isRefusal(known)) return { ask, known, refused };
      refused = known;
      ask = after(ask, known);
    }
    return { ask, known: refused, refused };
  }
}

/** What was refused has changed nothing: whoever knows the conversation as it was before still knows it. */
function after(ask: TurnAsk, { id, messages }: Turn): TurnAsk {
  const { key, ifVersion } = ask;
  const [first, last] = [messages[0].seq, messages.at(-1)?.seq ?? messages[0].seq];
  return {
    ...ask,
    key: key && { ...key, hash: createHash('sha256').update(`${key.hash}|${id}`).digest('base64url') },
    ifVersion: ifVersion?.seq === first - 1 ? { ...ifVersion, seq: last } : ifVersion,
  };
}
