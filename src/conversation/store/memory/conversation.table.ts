import type { Place } from '../conversation.js';
import type { KeptConversation } from './kept.conversation.js';

/** At each visit so many others are looked at: all are, in the end, and none takes long. */
const LOOKED_AT = 2;

/** The conversations of this process, by owner. */
export class ConversationTable {
  private readonly kept = new Map<string, KeptConversation>();
  private readonly ofOwner = new Map<string, Map<string, KeptConversation>>();

  get size(): number {
    return this.kept.size;
  }

  find(place: Place, ms: number): KeptConversation | undefined {
    this.clearSome(ms);
    const found = this.kept.get(keyOf(place));
    return found === undefined || isOver(found, ms) ? undefined : found;
  }

  set(place: Place, conversation: KeptConversation): void {
    this.kept.set(keyOf(place), conversation);
    const owned = this.ofOwner.get(place.owner) ?? new Map<string, KeptConversation>();
    this.ofOwner.set(place.owner, owned.set(place.id, conversation));
  }

  delete(place: Place): void {
    this.kept.delete(keyOf(place));
    const owned = this.ofOwner.get(place.owner);
    owned?.delete(place.id);
    if (owned?.size === 0) this.ofOwner.delete(place.owner);
  }

  /** In no order. */
  owned(owner: string, ms: number): readonly KeptConversation[] {
    return [...(this.ofOwner.get(owner)?.values() ?? [])].filter((conversation) => !isOver(conversation, ms));
  }

  /** Who was looked at goes to the end of the map. */
  private clearSome(ms: number): void {
    const first = this.kept.entries();
    for (let looks = 0; looks < LOOKED_AT; looks += 1) {
      const next = first.next();
      if (next.done === true) return;
      const [key, conversation] = next.value;
      if (isOver(conversation, ms)) {
        this.delete(placeOf(key));
        continue;
      }
      conversation.forget(ms);
      this.kept.delete(key);
      this.kept.set(key, conversation);
    }
  }
}

function isOver({ endsAt }: KeptConversation, ms: number): boolean {
  return endsAt !== 0 && endsAt <= ms;
}

function keyOf({ owner, id }: Place): string {
  return `${owner.length}:${owner}${id}`;
}

function placeOf(key: string): Place {
  const start = key.indexOf(':') + 1;
  const end = start + Number(key.slice(0, start - 1));
  return { owner: key.slice(start, end), id: key.slice(end) };
}
