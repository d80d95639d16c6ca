import type {
  AcquireAnswer,
  AcquireCommand,
  AdmissionMessage,
  AdmissionStore,
  BeatAnswer,
  BeatCommand,
  CancelAnswer,
  CancelCommand,
  HoldCommand,
  LearnCommand,
  Notice,
  Scope,
  ScopeNews,
  ScopeState,
  SettleAnswer,
  SettleCommand,
} from '../../src/admission/index.js';
import { pass } from './pass.js';

/**
 * What becomes of a call. `unsent`: it never runs · `lost`: it runs and nobody hears of it · with a delay it is heard of so much
 * later · an error: it does not run, and fails with it.
 */
export type AdmissionFault = 'unsent' | 'lost' | { readonly heardAfterMs: number } | { readonly fails: Error };

type Call = 'acquire' | 'settle' | 'cancel' | 'beat' | 'hold' | 'learn';

const CALLS: readonly Call[] = ['acquire', 'settle', 'cancel', 'beat', 'hold', 'learn'];

/** One process's way to a store, on which calls and messages get lost as the test says. */
export class UnreliableAdmission implements AdmissionStore {
  /** How often each was called. */
  readonly calls: Record<Call, number> = { acquire: 0, settle: 0, cancel: 0, beat: 0, hold: 0, learn: 0 };
  /** The times of all grants by the store's clock, by flow, in the order in which they were asked for. */
  readonly grants = new Map<string, Map<string, number>>();
  /** Whether messages to this process arrive. */
  isHearing = true;
  readonly #always = new Map<Call, AdmissionFault>();
  readonly #next = new Map<Call, AdmissionFault[]>();

  constructor(public store: AdmissionStore) {}

  /** The next call of this kind. */
  next(call: Call, fault: AdmissionFault): void {
    this.#next.set(call, [...(this.#next.get(call) ?? []), fault]);
  }

  /** All calls of these kinds from now on; of every kind where none is named. */
  always(fault: AdmissionFault, ...calls: readonly Call[]): void {
    for (const call of calls.length === 0 ? CALLS : calls) this.#always.set(call, fault);
  }

  heal(): void {
    this.#always.clear();
    this.#next.clear();
    this.isHearing = true;
  }

  acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    const { id, flow } = command;
    const grants = this.grants.get(flow) ?? new Map<string, number>();
    this.grants.set(flow, grants.set(id, Infinity));
    return this.#call('acquire', async () => {
      const answer = await this.store.acquire(command);
      if (answer.kind === 'granted') grants.set(id, answer.atMs);
      return answer;
    });
  }

  settle(command: SettleCommand): Promise<SettleAnswer> {
    return this.#call('settle', () => this.store.settle(command));
  }

  cancel(command: CancelCommand): Promise<CancelAnswer> {
    return this.#call('cancel', () => this.store.cancel(command));
  }

  beat(command: BeatCommand): Promise<BeatAnswer> {
    return this.#call('beat', () => this.store.beat(command));
  }

  hold(command: HoldCommand): Promise<ScopeNews> {
    return this.#call('hold', () => this.store.hold(command));
  }

  learn(command: LearnCommand): Promise<ScopeNews> {
    return this.#call('learn', () => this.store.learn(command));
  }

  inspect(scope: Scope): Promise<ScopeState> {
    return this.store.inspect(scope);
  }

  subscribe(process: string, receive: (message: AdmissionMessage) => void, resumed?: () => void): Promise<void> {
    const hear = (message: AdmissionMessage): void => {
      if (!this.isHearing) return;
      this.#note(message.notices);
      receive(message);
    };
    return this.store.subscribe(process, hear, resumed);
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(process);
  }

  #note(notices: readonly Notice[]): void {
    for (const notice of notices) {
      for (const grants of this.grants.values()) {
        if (notice.kind === 'granted' && grants.has(notice.id)) grants.set(notice.id, notice.atMs);
      }
    }
  }

  async #call<Answer extends ScopeNews>(call: Call, run: () => Promise<Answer>): Promise<Answer> {
    this.calls[call] += 1;
    const fault = this.#next.get(call)?.shift() ?? this.#always.get(call);
    if (fault === undefined) {
      const answer = await run();
      this.#note(answer.notices);
      return answer;
    }
    if (fault === 'unsent') return NEVER;
    if (fault === 'lost') return run().then(() => NEVER);
    if ('fails' in fault) throw fault.fails;
    const answer = await run();
    await pass(fault.heardAfterMs);
    return answer;
  }
}

const NEVER = new Promise<never>(() => undefined);
