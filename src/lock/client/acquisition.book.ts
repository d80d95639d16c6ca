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

  /** The group of a key; one that is kept nowhere where the key has no acquisition. */
  group(key: string): KeyGroup {
    return this.#groups.get(key) ?? new KeyGroup(key);
  }

  /** Enters an acquisition under a fresh token, in place of the one it had. */
  enter(acquisition: Acquisition, now: number): void {
    this.#byToken.delete(acquisition.token);
    this.#tokens += 1;
    acquisition.rename(`${this.process}-${this.#tokens}`, now);
    this.#byToken.set(acquisition.token, acquisition);
    const group = this.group(acquisition.request.key);
    group.members.add(acquisition);
    this.#groups.set(group.key, group);
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
