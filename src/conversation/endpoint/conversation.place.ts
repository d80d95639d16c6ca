import { createHash, randomBytes } from 'node:crypto';
import { type Caller, ownerOf } from '../../auth/index.js';
import { ApiError } from '../../http/index.js';
import type { Place } from '../store/index.js';
import { conversationMissing } from '../turn/turn.errors.js';
import { CONVERSATION_ID } from './list.cursor.js';

const ID_BYTES = 16;

/** 128 random bits: nobody guesses it. */
export function newConversationId(): string {
  return `conv_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** @throws ApiError not_found: no conversation has such an id */
export function placeOf(caller: Caller, id: string): Place {
  if (!CONVERSATION_ID.test(id)) throw conversationMissing();
  return { owner: ownerOf(caller), id };
}

/** @throws ApiError invalid_request for an id that nothing may be called */
export function chosenPlace(caller: Caller, id: string): Place {
  if (CONVERSATION_ID.test(id)) return { owner: ownerOf(caller), id };
  throw new ApiError(
    'invalid_request',
    'id must be 1 to 128 letters, digits and . _ : @ -, a letter or digit in front',
    {
      param: 'id',
    },
  );
}

/** The one conversation that a user of a caller has. Whatever users are called, it fits a path. */
export function userPlace(caller: Caller, userId: string): Place {
  return {
    owner: ownerOf(caller),
    id: `user_${createHash('sha256')
      .update(userId)
      .digest('hex')
      .slice(0, 2 * ID_BYTES)}`,
  };
}
