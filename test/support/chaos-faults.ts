import type { SeededRandom } from '../simulation/seeded.random.js';
import type { TestSimulator } from './simulator.js';

/** One way in which a provider answers, as the simulator's scripts say it. */
export interface ChaosWay {
  readonly behaviour: Readonly<Record<string, unknown>>;
  /** Only a stream shows it. */
  readonly ofStreams?: true;
  /** It changes what is said: only for a request that expects it. */
  readonly isMarkedOnly?: true;
}

/** What the simulator says where a script gives it the words. */
export const OTHER_TEXT = 'something else, and nothing of what was asked';

/** All that another deployment, or another try, would answer. */
const FAULTS: readonly ChaosWay[] = [
  ...whole([
    { reset: true },
    { neverAnswer: true },
    { delayMs: 1_500 },
    { status: 404 },
    { status: 408 },
    { status: 409 },
    { status: 429 },
    { status: 429, headers: { 'retry-after-ms': '80' } },
    { status: 500 },
    { status: 502, body: '<html>Bad Gateway</html>' },
    { status: 503, headers: { 'retry-after': '1' } },
    { status: 504 },
    { status: 529 },
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } },
    { status: 200, body: { error: { message: 'inside a 200', type: 'overloaded_error' } } },
    { status: 200, body: '' },
    { garbageBody: true },
    { earlyHead: true, stallAfterFrames: 0 },
    { cutAfterFrames: 0 },
    { cutAfterFrames: 1 },
    { endAfterFrames: 1 },
    { endAfterFrames: 3 },
    { garbageAfterFrames: 1 },
    { errorAfterFrames: 1 },
    { errorAfterFrames: 3, error: { message: 'in the middle', code: 429 } },
    { stallAfterFrames: 1 },
    { stallAfterFrames: 3 },
  ]),
  ...streamed([
    { frames: ['data: {"error":{"message":"at once","type":"server_error"}}\n\n'] },
    { frames: [': nothing but a comment\n\n'] },
    { cutAfterFrames: 4 },
    { garbageAfterFrames: 5 },
  ]),
];

/** Odd, but no failure: the answer is whole. */
const ODDITIES: readonly ChaosWay[] = [
  ...whole([
    { crlf: true },
    { bytewise: true },
    { splitAt: 7 },
    { drip: { bytes: 40, everyMs: 1 } },
    { comments: true },
    { earlyHead: true, delayMs: 50 },
    { usage: null },
    {
      usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } },
    },
    { stallAfterFrames: 2, stallMs: 150 },
  ]),
  { behaviour: { text: OTHER_TEXT }, isMarkedOnly: true },
];

/** Everything that a provider does here. */
export const WAYS: readonly ChaosWay[] = [...FAULTS, ...ODDITIES];

/** A request with this in it is refused as wrong, whoever is asked. */
export const WRONG = '(refuse this request)';

/** A request with this in it meets that way at the first provider that is asked, if it is scripted there. */
export function markOf(way: number): string {
  return `(way ${String(way)})`;
}

const FAULT_SHARE = 0.005;
const ODDITY_SHARE = 0.02;
const MANY = 1_000_000;

/** What each of the providers does in a run, and how often each way was met. */
export class ChaosScripts {
  readonly #queued: number[] = WAYS.map(() => 0);

  constructor(private readonly simulators: readonly TestSimulator[]) {}

  /**
   * What it does in the whole run.
   *
   * @param marked - ways for the requests with their marks, once each
   * @param badKeys - the end of a key of ours that it does not take, and one that is used up
   */
  async start(
    simulator: TestSimulator,
    marked: readonly number[],
    badKeys: { readonly refused: string; readonly usedUp: string },
  ): Promise<void> {
    const usedUp = { error: { message: 'no quota', type: 'insufficient_quota', code: 'insufficient_quota' } };
    await simulator.script(
      { contains: WRONG, status: 400, times: 'always' },
      { keyEndsWith: badKeys.refused, status: 401, times: 'always' },
      { keyEndsWith: badKeys.usedUp, status: 429, body: usedUp, times: 'always' },
      ...marked.map((way) => this.#queue(way, 1, { contains: markOf(way) })),
      ...[...WAYS.entries()].flatMap(([way, { isMarkedOnly }]) =>
        isMarkedOnly ? [] : [this.#queue(way, MANY, { share: way < FAULTS.length ? FAULT_SHARE : ODDITY_SHARE })],
      ),
    );
  }

  /** It fails every one of its next calls, in one way. */
  async outage(simulator: TestSimulator, random: SeededRandom, calls: number): Promise<void> {
    await simulator.script(this.#queue(random.below(FAULTS.length), calls, {}));
  }

  /** How often each way was met so far, by its place in `WAYS`. */
  async met(): Promise<readonly number[]> {
    const left = WAYS.map(() => 0);
    for (const { origin } of this.simulators) {
      const { scripts } = (await (await fetch(`${origin}/control/script`)).json()) as { scripts: QueuedScript[] };
      for (const { headers, times } of scripts) {
        const way = Number(headers?.[TAG] ?? Number.NaN);
        if (typeof times === 'number' && left[way] !== undefined) left[way] += times;
      }
    }
    return this.#queued.map((queued, way) => queued - (left[way] ?? 0));
  }

  #queue(way: number, times: number, target: object): object {
    const { behaviour } = WAYS[way] ?? { behaviour: {} };
    this.#queued[way] = (this.#queued[way] ?? 0) + times;
    const headers = { ...(behaviour['headers'] as object | undefined), [TAG]: String(way) };
    return { ...target, ...behaviour, headers, times };
  }
}

/** By it a script is known again. */
const TAG = 'x-chaos-way';

interface QueuedScript {
  readonly headers?: Readonly<Record<string, string>>;
  readonly times: number | 'always';
}

/** Once: a deployment that gets it is left alone for the rest of the run. */
export const LONG_WAIT: object = { status: 429, headers: { 'retry-after': '3600' } };

/** Which requests a script is for; not what happens to them. */
const TARGETS = ['endpoint', 'model', 'contains', 'keyEndsWith', 'share', 'times'];

/** All that a script can say of what happens, by the simulator's own word. */
export async function vocabularyOf({ origin }: TestSimulator): Promise<readonly string[]> {
  const answer = await fetch(`${origin}/control/script`, { method: 'POST', body: '{"nothing of the kind":1}' });
  const { error } = (await answer.json()) as { error: { message: string } };
  const [, known = ''] = error.message.split('known are ');
  return known.split(', ').filter((word) => !TARGETS.includes(word));
}

function whole(behaviours: readonly ChaosWay['behaviour'][]): readonly ChaosWay[] {
  return behaviours.map((behaviour) => ({ behaviour }));
}

function streamed(behaviours: readonly ChaosWay['behaviour'][]): readonly ChaosWay[] {
  return behaviours.map((behaviour) => ({ behaviour, ofStreams: true }));
}
