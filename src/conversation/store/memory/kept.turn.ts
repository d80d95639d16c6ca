import { CONVERSATION_LIMITS as LIMITS } from '../conversation.limits.js';
import { type ToldTurn, type WrittenMessage, writeStart } from '../message.format.js';
import type { EventPage, TurnEvent, TurnStart } from '../turn.js';

/** A message of the log, or of a turn that runs: as the scripts keep it. */
export interface Entry {
  readonly head: string;
  readonly content: string;
  readonly extras: string;
  card: string;
}

/** @param at - whose message it is, which one of its turn, and when it was made */
export function entryOf(message: WrittenMessage, at: { token: string; index: number; ms: number }): Entry {
  const { marks, content, extras, card } = message;
  return { head: `${marks}|${at.token}|${at.index}|${at.ms}`, content, extras, card };
}

/** A turn that runs. */
export class KeptTurn {
  readonly token: string;
  readonly fence: number;
  readonly process: string;
  readonly entries: readonly Entry[];
  readonly readers = new Set<string>();
  isCancelled = false;

  constructor(
    start: TurnStart,
    readonly firstSeq: number,
    readonly supersedesFrom: number | undefined,
    ms: number,
  ) {
    const { token, fence, process } = start;
    this.token = token;
    this.fence = fence;
    this.process = process;
    this.entries = writeStart(start).map((message, index) => {
      const entry = entryOf(message, { token, index, ms });
      const tail = index === 0 && supersedesFrom !== undefined ? `|${supersedesFrom}` : '';
      return { ...entry, head: `${entry.head}${tail}` };
    });
  }

  told(): ToldTurn {
    const messages = this.entries.map(({ head, content, extras }, index) => {
      return { seq: this.firstSeq + index, head, content, extras, isSuperseded: false };
    });
    return { isCancelled: this.isCancelled, messages };
  }
}

/** The events of one turn. Their ids count from 1. */
export class KeptEvents {
  private readonly events: TurnEvent[] = [];
  private dropped = 0;
  /** From when on they are gone, ms. */
  endsAt = Number.POSITIVE_INFINITY;

  /** Of a turn that ended, also where it had none. */
  isGone(ms: number): boolean {
    return ms >= this.endsAt || (this.events.length === 0 && this.endsAt !== Number.POSITIVE_INFINITY);
  }

  add(events: readonly TurnEvent[]): void {
    this.events.push(...events);
    const excess = this.events.length - LIMITS.mostEvents;
    if (excess <= 0) return;
    this.events.splice(0, excess);
    this.dropped += excess;
  }

  page(afterId: number, limit: number): Pick<EventPage, 'events' | 'isWhole'> {
    const from = Math.max(0, afterId - this.dropped);
    const events = this.events
      .slice(from, from + limit)
      .map((event, at) => ({ id: this.dropped + from + at + 1, ...event }));
    return { events, isWhole: afterId >= this.dropped };
  }
}
