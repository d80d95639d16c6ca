import type { Gate, Turn } from '../../src/ai/call/attempt.ports.js';
import { AttemptSequence } from '../../src/ai/call/attempt.sequence.js';
import { parseChatRequest } from '../../src/ai/call/chat-request.js';
import type { CompletionCall } from '../../src/ai/call/completion-call.js';
import type { Obstacle } from '../../src/ai/route/obstacle.js';
import { type Candidate, RoutePlan } from '../../src/ai/route/route.plan.js';
import type { LateSendError } from '../../src/ai/upstream/sending.js';
import type { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import { catalogue, deployment, model, provider } from './catalogues.js';

export const places = catalogue({
  models: [
    model('small', [deployment('one'), deployment('two')], { contextWindow: 1_000 }),
    model('large', [deployment('three')], { contextWindow: 9_000 }),
  ],
  providers: [provider('one', 'k1'), provider('two', 'k2'), provider('three', 'k3')],
  tiers: { free: [], pro: [], enterprise: ['small', 'large'] },
});
/** one and two serve `small`, three serves `large`. */
export const CANDIDATES: readonly Candidate[] = places.models.flatMap((each) =>
  places.liveDeployments(each).map((found) => ({ model: each, deployment: found })),
);
export const byName = (...names: readonly string[]): readonly Candidate[] =>
  CANDIDATES.filter(({ deployment: { provider: name } }) => names.includes(name));

/** The candidate at that place. */
export function candidateAt(at: number): Candidate {
  const found = CANDIDATES[at];
  if (found === undefined) throw new RangeError(`there is no candidate ${String(at)}`);
  return found;
}

export type Outcome = UpstreamFailure | LateSendError | 'ok';

/** A request's way through its candidates in a time of its own: every attempt takes 100 ms, and sleeping takes what it says. */
export class SequenceBench {
  nowMs = 0;
  readonly tried: string[] = [];
  readonly turns: Turn[] = [];
  readonly slept: number[] = [];
  readonly forgone: string[] = [];
  readonly obstacles = new Map<string, Obstacle>();
  /** Only seen right before a call: somebody else is probing. */
  readonly atTheDoor = new Map<string, Obstacle>();
  readonly leaving = new AbortController();
  readonly plan: RoutePlan;
  readonly call: CompletionCall;
  readonly sequence: AttemptSequence;
  attemptMs = 100;
  onSleep: () => void = () => undefined;
  onTry: () => void = () => undefined;
  enterMs = 0;
  /** Whether the candidates have limits of ours. */
  isLimited = false;
  /** How often each was asked for at the door. */
  readonly entered: string[] = [];

  constructor(candidates: readonly Candidate[] = CANDIDATES, deadlineMs = 60_000) {
    const bodyText = '{"model":"small","messages":[{"role":"user","content":"Hi"}]}';
    this.plan = new RoutePlan(
      { name: 'small', model: 'small', order: candidates.map(({ deployment: { id } }) => id) },
      candidates,
      [],
    );
    this.call = {
      request: parseChatRequest(JSON.parse(bodyText), bodyText),
      bodyText,
      body: {},
      caller: { id: 'c', tier: 'enterprise', scopes: ['chat'], weight: 1, limits: {} },
      requestId: 'r',
      forwardedHeaders: {},
      isStrict: false,
      deadlineMs,
      startedAt: 0,
      signal: this.leaving.signal,
      report: { attempts: 0 },
      ended: () => undefined,
    };
    const nameOf = ({ deployment: { provider: name } }: Candidate): string => name;
    const gate: Gate = {
      obstacleAt: (candidate) => this.obstacles.get(nameOf(candidate)),
      enter: (candidate) => {
        this.nowMs += this.enterMs;
        this.entered.push(nameOf(candidate));
        return Promise.resolve(this.obstacles.get(nameOf(candidate)) ?? this.atTheDoor.get(nameOf(candidate)));
      },
      isLimited: () => this.isLimited,
      forgo: (candidate) => void this.forgone.push(nameOf(candidate)),
    };
    this.sequence = new AttemptSequence(this.call, this.plan, gate, {
      now: () => this.nowMs,
      random: () => 0.5,
      sleep: (ms) => {
        this.slept.push(ms);
        this.nowMs += ms;
        this.onSleep();
        return Promise.resolve();
      },
    });
  }

  /** Each candidate's outcomes in order; the last one stays. */
  async run(outcomes: Readonly<Record<string, readonly Outcome[]>>): Promise<unknown> {
    return this.sequence.answer((turn) => {
      const name = turn.candidate.deployment.provider;
      const nth = this.tried.filter((each) => each === name).length;
      this.tried.push(name);
      this.onTry();
      this.turns.push(turn);
      this.nowMs += this.attemptMs;
      const told = outcomes[name]?.[nth] ?? outcomes[name]?.at(-1) ?? 'ok';
      return told === 'ok' ? Promise.resolve(name) : Promise.reject(told);
    });
  }

  /** What the caller is told. */
  failed(outcomes: Readonly<Record<string, readonly Outcome[]>>): Promise<unknown> {
    return this.run(outcomes).then(
      (answer) => {
        throw new Error(`${String(answer)} answered`);
      },
      (error: unknown) => error,
    );
  }
}
