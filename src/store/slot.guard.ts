import { createHash } from 'node:crypto';
import { slotText } from './names.js';
import type { Script } from './store.js';

/**
 * Keeps scripts whole while their slot goes to another master of a cluster. Redis looks at the keys that a script names before it
 * begins, and then at each that it touches: one that is not there, since the script has just deleted it, say, ends the script at that
 * point, and what it did before stays. A key that never exists, named with the others, has it refused before it begins (TRYAGAIN; Redis
 * Cluster specification, "Multiple keys operations").
 */
export class SlotGuard {
  readonly #shortened = new WeakMap<Script, Script>();

  constructor(private readonly keyPrefix: string) {}

  /** The key to name after a script's own. */
  keyFor([first = '']: readonly string[]): string {
    return `${this.keyPrefix}whole:{${slotText(first)}}`;
  }

  /** The script, where it takes any number of keys: without that last one. */
  guarded(script: Script): Script {
    if (!script.takesMoreKeys) return script;
    const known = this.#shortened.get(script);
    if (known !== undefined) return known;
    const source = `table.remove(KEYS)\n${script.source}`;
    const shortened = { ...script, source, sha1: createHash('sha1').update(source).digest('hex') };
    this.#shortened.set(script, shortened);
    return shortened;
  }
}
