import type { Store } from '../../store/index.js';
import type { Conversation, ConversationList, ListPage, ListPlace, Place } from './conversation.js';
import { ownerKeys } from './conversation.keys.js';
import { readList } from './conversation.replies.js';
import type { OwnerScripts } from './conversation.scripts.js';

type Find = (place: Place) => Promise<Conversation | undefined>;

interface Seen {
  readonly entry: ListPlace;
  readonly conversation: Conversation | undefined;
}

/**
 * The index of an owner's conversations. It lies in another slot than they do, so it is written after them, and may miss what a
 * process did last; the next turn of a conversation, or whoever reads the list, sets it right.
 */
export class OwnerList {
  constructor(
    private readonly store: Store,
    private readonly scripts: OwnerScripts,
  ) {}

  /** Sets its place. @throws StoreError */
  async touch(owner: string, { id, updatedAt, expiresAt = 0 }: Conversation): Promise<void> {
    await this.store.run(this.scripts.touch, this.keysOf(owner), [id, updatedAt, expiresAt]);
  }

  /** @param lastUse - only where it was not used since @throws StoreError */
  async drop(owner: string, id: string, lastUse?: number): Promise<void> {
    await this.store.run(this.scripts.drop, this.keysOf(owner), [id, lastUse ?? '']);
  }

  /** @throws StoreError */
  async read(owner: string, { after, limit }: ListPage, find: Find): Promise<ConversationList> {
    const found: Seen[] = [];
    let from = after;
    let isMore = true;
    while (isMore && found.length <= limit) {
      const wanted = limit + 1 - found.length;
      const entries = await this.entries(owner, from, wanted);
      const seen = await Promise.all(
        entries.map(async (entry) => ({ entry, conversation: await find({ owner, id: entry.id }) })),
      );
      await Promise.all(seen.map((each) => this.repair(owner, each)));
      found.push(...seen.filter(({ conversation }) => conversation !== undefined));
      from = entries.at(-1);
      isMore = entries.length === wanted;
    }
    const page = found.slice(0, limit);
    return {
      conversations: page.flatMap(({ conversation }) => conversation ?? []),
      hasMore: found.length > limit,
      last: page.at(-1)?.entry,
    };
  }

  private async repair(owner: string, { entry, conversation }: Seen): Promise<void> {
    if (conversation === undefined) await this.drop(owner, entry.id, entry.updatedAt);
    else if (conversation.updatedAt > entry.updatedAt) await this.touch(owner, conversation);
  }

  private async entries(owner: string, after: ListPlace | undefined, most: number): Promise<readonly ListPlace[]> {
    const from = after === undefined ? ['', ''] : [after.updatedAt, after.id];
    return readList(await this.store.run(this.scripts.list, this.keysOf(owner), [...from, most]));
  }

  private keysOf(owner: string): readonly string[] {
    return ownerKeys(this.store.keyPrefix, owner);
  }
}
