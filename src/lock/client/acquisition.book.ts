import type { Acquisition } from './acquisition.js';
import { KeyGroup } from './key.group.js';

/** Which acquisitions this process has, by token and by key. Nothing stays of a key whose last acquisition is over. */
export class AcquisitionBook {
  readonly #byToken = new Map<string, Acquisition>();
  readonly #groups = new Map<string, KeyGroup>();
  #tokens = 0;

  constructor(private readonly process: string) {}

  find(token: string): Acquisition | undefined {
    return this.#byToken.get(token);
  }

  /** The group of a key that has acquisitions, or is about to have one. */
  group(key: string): KeyGroup {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new KeyGroup(key);
    this.#groups.set(key, group);
    return group;
  }

  /** Enters an acquisition under a fresh token, in place of the one it had. */
  enter(acquisition: Acquisition, now: number): void {
    this.#byToken.delete(acquisition.token);
    this.#tokens += 1;
    acquisition.rename(`${this.process}-${this.#tokens}`, now);
    this.#byToken.set(acquisition.token, acquisition);
    this.group(acquisition.request.key).members.add(acquisition);
  }

  strike(acquisition: Acquisition): void {
    const group = this.group(acquisition.request.key);
    this.#byToken.delete(acquisition.token);
    group.members.delete(acquisition);
    if (group.members.size > 0) return;
    group.disarm();
    this.#groups.delete(group.key);
  }

  groups(): readonly KeyGroup[] {
    return [...this.#groups.values()];
  }

  all(): readonly Acquisition[] {
    return [...this.#byToken.values()];
  }
}
