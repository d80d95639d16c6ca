import { isSuperseded, superseded, withStatus } from '../card.format.js';
import type {
  Conversation,
  ConversationChanges,
  ConversationDraft,
  ExpectedVersion,
  WindowHead,
} from '../conversation.js';
import { CONVERSATION_LIMITS as LIMITS } from '../conversation.limits.js';
import { readTurn, type ToldMessage, type ToldTurn, writeEnd } from '../message.format.js';
import { parseTurnId, type TurnIdParts, turnIdOf } from '../turn.id.js';
import type { Turn, TurnEnd, TurnEvent, TurnKey, TurnStart } from '../turn.js';
import { type Entry, entryOf, KeptEvents, KeptTurn } from './kept.turn.js';

interface UsedKey {
  readonly turn: TurnIdParts;
  readonly bodyHash: string;
  readonly endsAt: number;
}

/** One conversation of this process, with the rules of the scripts. */
export class KeptConversation {
  seq = 0;
  base = 0;
  version = 1;
  fence = 0;
  head: WindowHead | undefined;
  updatedAt = 0;
  /** 0: never. */
  endsAt = 0;
  turn: KeptTurn | undefined;
  log: Entry[] = [];
  private members: ConversationDraft;
  private readonly events = new Map<string, KeptEvents>();
  private readonly keys = new Map<string, UsedKey>();

  constructor(
    readonly id: string,
    draft: ConversationDraft,
    readonly createdAt: number,
  ) {
    this.members = draft;
    this.renew(createdAt, 0);
  }

  told(): Conversation {
    const { id, createdAt, updatedAt, seq, base, version, head, turn } = this;
    return {
      ...this.members,
      id,
      createdAt,
      updatedAt,
      seq,
      version,
      head,
      firstSeq: base + 1,
      expiresAt: this.endsAt === 0 ? undefined : this.endsAt,
      activeTurn: turn === undefined ? undefined : turnIdOf(turn),
    };
  }

  renew(ms: number, leastMs: number): void {
    const { keepMs } = this.members;
    this.updatedAt = ms;
    this.endsAt = keepMs === 0 ? 0 : ms + Math.max(keepMs, leastMs);
  }

  isAt(expected: ExpectedVersion | undefined): boolean {
    return expected === undefined || (expected.seq === this.seq && expected.version === this.version);
  }

  change(changes: ConversationChanges, ms: number): void {
    this.members = { ...this.members, ...changes };
    this.version += 1;
    this.renew(ms, this.turn === undefined ? 0 : LIMITS.runMs);
  }

  clear(fence: number, ms: number): void {
    this.log = [];
    this.turn = undefined;
    this.head = undefined;
    this.base = this.seq;
    this.version += 1;
    this.fence = fence;
    this.renew(ms, 0);
  }

  running({ token, firstSeq }: TurnIdParts): KeptTurn | undefined {
    return this.turn?.token === token && this.turn.firstSeq === firstSeq ? this.turn : undefined;
  }

  toldTurn(parts: TurnIdParts): ToldTurn | undefined {
    return this.running(parts)?.told() ?? this.logged(parts);
  }

  turnOf(parts: TurnIdParts): Turn | undefined {
    const told = this.toldTurn(parts);
    return told === undefined ? undefined : readTurn(told);
  }

  lastTurn(): Turn | undefined {
    const last = this.message(this.seq);
    const [, token, index] = last?.head.split('|') ?? [];
    return token === undefined ? undefined : this.turnOf({ token, firstSeq: this.seq - Number(index) });
  }

  message(seq: number): ToldMessage | undefined {
    const entry = this.log[seq - this.base - 1];
    if (entry === undefined) return undefined;
    const { head, content, extras, card } = entry;
    return { seq, head, content, extras, isSuperseded: isSuperseded(card) };
  }

  /** What a key was used for, while that is known. */
  used(hash: string, ms: number): UsedKey | undefined {
    const used = this.keys.get(hash);
    return used === undefined || used.endsAt <= ms ? undefined : used;
  }

  use({ hash, bodyHash, keepMs }: TurnKey, turn: TurnIdParts, ms: number): void {
    this.keys.set(hash, { turn, bodyHash, endsAt: ms + keepMs });
  }

  eventsOf(token: string): KeptEvents | undefined {
    return this.events.get(token);
  }

  addEvents(token: string, events: readonly TurnEvent[]): KeptEvents {
    const kept = this.events.get(token) ?? new KeptEvents();
    this.events.set(token, kept);
    kept.add(events);
    return kept;
  }

  /** From which seq on messages are superseded by an answer to that turn; 'changed': it is not the last one. */
  supersededBy(replaces: string | undefined): number | undefined | 'changed' {
    if (replaces === undefined) return undefined;
    const parts = parseTurnId(replaces);
    const told = parts === undefined ? undefined : this.logged(parts);
    if (parts === undefined || told?.messages.at(-1)?.seq !== this.seq) return 'changed';
    // One that failed may have taken the place of others, which are still there.
    return readTurn(told).supersedesFrom ?? parts.firstSeq;
  }

  start(start: TurnStart, supersedesFrom: number | undefined, ms: number): KeptTurn {
    const turn = new KeptTurn(start, this.seq + 1, supersedesFrom, ms);
    this.turn = turn;
    this.events.delete(start.token);
    this.fence = start.fence;
    this.renew(ms, LIMITS.runMs);
    return turn;
  }

  end(turn: KeptTurn, end: TurnEnd, ms: number): void {
    if (end.status !== 'failed') this.supersede(turn);
    const { token } = turn;
    const replies = writeEnd(end).map((message, at) =>
      entryOf(message, { token, index: turn.entries.length + at, ms }),
    );
    const asked = end.status === 'failed' ? 'failed' : 'complete';
    this.append(turn.entries, asked);
    this.append(replies, end.status);
    this.fence = end.fence;
    if (end.head !== 'as-before') this.head = end.head;
    this.addEvents(token, end.events).endsAt = ms + LIMITS.eventsMs;
    this.turn = undefined;
  }

  /** Nothing waits for what is over: it is cleared away now and then. */
  forget(ms: number): void {
    for (const [token, { endsAt }] of this.events) if (endsAt <= ms) this.events.delete(token);
    for (const [hash, { endsAt }] of this.keys) if (endsAt <= ms) this.keys.delete(hash);
  }

  private append(entries: readonly Entry[], status: TurnEnd['status']): void {
    const added = entries.map(({ head, card, ...rest }) => {
      return { ...rest, head: withStatus(head, status), card: withStatus(card, status) };
    });
    this.log.push(...added);
    this.seq += added.length;
  }

  private supersede({ supersedesFrom, firstSeq }: KeptTurn): void {
    for (let seq = supersedesFrom ?? firstSeq; seq < firstSeq; seq += 1) {
      const entry = this.log[seq - this.base - 1];
      if (entry !== undefined) entry.card = superseded(entry.card);
    }
  }

  /** A turn that is over; undefined: it is not in the log. */
  private logged({ token, firstSeq }: TurnIdParts): ToldTurn | undefined {
    const messages: ToldMessage[] = [];
    for (let seq = firstSeq; ; seq += 1) {
      const message = this.message(seq);
      const [, owner, index] = message?.head.split('|') ?? [];
      if (message === undefined || owner !== token || Number(index) !== seq - firstSeq) break;
      messages.push(message);
    }
    return messages.length === 0 ? undefined : { isCancelled: false, messages };
  }
}
