import { randomBytes } from 'node:crypto';

const TOKEN_BYTES = 16;
const TURN_ID = /^turn_([\w-]{1,64})_([1-9]\d{0,14})$/;

/** What a turn's id is made of: its token, and the place of its first message in the log, where it is found without an index. */
export interface TurnIdParts {
  readonly token: string;
  readonly firstSeq: number;
}

/** 128 random bits: nobody guesses a turn's id. */
export function newTurnToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function turnIdOf({ token, firstSeq }: TurnIdParts): string {
  return `turn_${token}_${firstSeq}`;
}

/** Undefined: no turn has that id. */
export function parseTurnId(id: string): TurnIdParts | undefined {
  const [, token, firstSeq] = TURN_ID.exec(id) ?? [];
  return token === undefined ? undefined : { token, firstSeq: Number(firstSeq) };
}

/** Of the message at that place in the log. */
export function messageIdOf(token: string, seq: number): string {
  return `msg_${token}_${seq}`;
}
