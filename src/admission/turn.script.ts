import { inspect } from 'node:util';
import type { Script, Store } from '../store/index.js';
import { AdmissionReplyError } from './admission.replies.js';

type Word = string | number;

/** What a script is told of a scope in front of its commands. */
export interface ScopeHead {
  /** Scopes with the same one may be in one script: they share a hash tag, and the process that asks. */
  readonly slot: string;
  readonly keys: readonly string[];
  /** As the headers of the scripts have them. */
  readonly words: readonly Word[];
}

interface Command {
  readonly words: readonly Word[];
  readonly resolve: (reply: readonly unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Section {
  readonly head: ScopeHead;
  readonly commands: Command[];
}

/** A script does no more than so many commands: others are not to wait for it long. */
const MOST_COMMANDS = 50;
/** What every command brings: the time, and when to pump. */
const NEWS = 2;
/** Neither notices nor bookings. */
const NOTHING = [0, 0];

/**
 * One script for all commands of a kind that this process has in one turn of the event loop for scopes of one hash slot, one after the
 * other as they came. Each is answered as if it had been sent alone; what the script brings besides is told once.
 */
export class TurnScript {
  /** By slot; of each the last one takes more. */
  #batches = new Map<string, Map<string, Section>[]>();

  constructor(
    private readonly store: Store,
    private readonly script: Script,
  ) {}

  /** @returns the news, then the answer, flat. @throws as Store.run() does */
  run(head: ScopeHead, words: readonly Word[]): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.#batches.size === 0) {
        this.store.atTurnsEnd(() => {
          this.#flush();
        });
      }
      this.#commandsOf(head).push({ words, resolve, reject });
    });
  }

  #commandsOf(head: ScopeHead): Command[] {
    const batches = this.#batches.get(head.slot) ?? [new Map<string, Section>()];
    this.#batches.set(head.slot, batches);
    let batch = batches.at(-1);
    if (batch === undefined || sizeOf(batch) >= MOST_COMMANDS) {
      batch = new Map<string, Section>();
      batches.push(batch);
    }
    const name = head.words.join('\n');
    const section = batch.get(name) ?? { head, commands: [] };
    batch.set(name, section);
    return section.commands;
  }

  #flush(): void {
    const batches = [...this.#batches.values()].flat();
    this.#batches = new Map();
    for (const batch of batches) void this.#send([...batch.values()]);
  }

  async #send(sections: readonly Section[]): Promise<void> {
    const keys = sections.flatMap(({ head }) => head.keys);
    const words = sections.flatMap(({ head, commands }) => [
      ...head.words,
      commands.length,
      ...commands.flatMap((command) => command.words),
    ]);
    try {
      const replies = repliesIn(await this.store.run(this.script, keys, words), sections, this.script.name);
      for (const [{ resolve }, reply] of replies) resolve(reply);
    } catch (error) {
      for (const { reject } of sections.flatMap(({ commands }) => commands)) reject(error);
    }
  }
}

function sizeOf(batch: ReadonlyMap<string, Section>): number {
  let size = 0;
  for (const { commands } of batch.values()) size += commands.length;
  return size;
}

/** Of each scope its news, then the answer to each of its commands. */
function repliesIn(
  reply: unknown,
  sections: readonly Section[],
  script: string,
): readonly (readonly [Command, readonly unknown[]])[] {
  const parts: readonly unknown[] = Array.isArray(reply) ? reply : [];
  let at = -1;
  const next = (): readonly unknown[] => {
    at += 1;
    const part = parts[at];
    if (Array.isArray(part)) return part;
    throw new AdmissionReplyError(`${script}.lua answered ${inspect(reply)} where that cannot be`);
  };
  return sections.flatMap(({ commands }) => {
    const news = next();
    return commands.map((command, index) => {
      const own = next();
      return [command, index === 0 ? [...news, ...own] : [...news.slice(0, NEWS), ...NOTHING, ...own]] as const;
    });
  });
}
