import { ProviderError } from '../provider.error.js';
import type { Endpoint, Script, ScriptedBehaviour } from './script.js';
import { SeededRandom } from '../reply/seeded.random.js';

const MAX_SCRIPTS = 1_000;

/** What a script can be for. */
export interface ScriptedRequest {
  readonly endpoint: Endpoint;
  readonly model: string | undefined;
  readonly rawBody: string;
  readonly apiKey: string | undefined;
}

interface Entry {
  readonly script: Script;
  readonly random: SeededRandom;
  left: number;
}

/** The scripts in the order in which they came; each request takes the first that is for it. */
export class ScriptQueue {
  private entries: Entry[] = [];
  private added = 0;

  constructor(private readonly seed: number) {}

  /** @throws ProviderError 400 when the queue is full. */
  add(scripts: readonly Script[]): void {
    if (this.entries.length + scripts.length > MAX_SCRIPTS) {
      throw new ProviderError(400, `at most ${String(MAX_SCRIPTS)} scripts can wait`, { code: 'too_many_scripts' });
    }
    for (const script of scripts) {
      this.added += 1;
      this.entries.push({
        script,
        random: new SeededRandom(this.seed, 'share', this.added),
        left: script.times ?? Number.POSITIVE_INFINITY,
      });
    }
  }

  /** The behaviour for a request; undefined: as usual. */
  take(request: ScriptedRequest): ScriptedBehaviour | undefined {
    const entry = this.entries.find(
      ({ script, random }) => isFor(script, request) && random.next() < (script.target.share ?? 1),
    );
    if (entry === undefined) {
      return undefined;
    }
    entry.left -= 1;
    if (entry.left <= 0) {
      this.entries = this.entries.filter((each) => each !== entry);
    }
    return entry.script.behaviour;
  }

  clear(): void {
    this.entries = [];
  }

  /** What still waits, in order. */
  list(): readonly object[] {
    return this.entries.map(({ script, left }) => ({
      ...script.target,
      ...script.behaviour,
      times: Number.isFinite(left) ? left : 'always',
    }));
  }
}

function isFor({ target }: Script, request: ScriptedRequest): boolean {
  return (
    target.endpoint === request.endpoint &&
    (target.model === undefined || target.model === request.model) &&
    (target.contains === undefined || request.rawBody.includes(target.contains)) &&
    (target.keyEndsWith === undefined || (request.apiKey?.endsWith(target.keyEndsWith) ?? false))
  );
}
