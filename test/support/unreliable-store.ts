import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
  LockMessage,
  LockState,
  LockStore,
  RevokeAnswer,
  RevokeCommand,
} from '../../src/lock/index.js';
import { pass } from './pass.js';

/**
 * What becomes of a call. `unsent`: it never runs · `lost`: it runs and nobody hears of it · with delays it runs, or is heard of,
 * so much later · an error: it does not run, and fails with it.
 */
export type CallFault =
  'unsent' | 'lost' | { readonly runsAfterMs: number } | { readonly heardAfterMs: number } | { readonly fails: Error };

/** What becomes of a message to this process. */
export type HearsFault = 'nothing' | 'everything twice' | { readonly afterMs: number };

type Call = 'acquire' | 'beat' | 'leave';

/** One process's way to a store, on which calls and messages get lost as the test says. */
export class UnreliableStore implements LockStore {
  /** How often each was called. */
  readonly calls: Record<Call, number> = { acquire: 0, beat: 0, leave: 0 };
  /** Of each look at a lock, how many holders it asked for. */
  readonly inspections: (number | undefined)[] = [];
  hears: HearsFault | undefined;
  /** Resolves once it hears. */
  readonly subscribed: Promise<void>;
  #isDead = false;
  #stand: () => void = () => undefined;
  #gate: Promise<void> | undefined;
  #openGate: () => void = () => undefined;
  readonly #always = new Map<Call, CallFault>();
  readonly #next = new Map<Call, CallFault[]>();

  constructor(private readonly store: LockStore) {
    this.subscribed = new Promise((resolve) => (this.#stand = resolve));
  }

  forgetCalls(): void {
    Object.assign(this.calls, { acquire: 0, beat: 0, leave: 0 });
  }

  /** The next call of this kind. */
  next(call: Call, fault: CallFault): void {
    this.#next.set(call, [...(this.#next.get(call) ?? []), fault]);
  }

  /** All calls of these kinds from now on. */
  always(fault: CallFault, ...calls: readonly Call[]): void {
    for (const call of calls) this.#always.set(call, fault);
  }

  /** Nothing passes either way, as if the process had been killed. */
  die(): void {
    this.#isDead = true;
  }

  /** Subscribing goes no further until heal(). */
  holdSubscribing(): void {
    this.#gate = new Promise((resolve) => (this.#openGate = resolve));
  }

  heal(): void {
    this.#isDead = false;
    this.#always.clear();
    this.#next.clear();
    this.hears = undefined;
    this.#gate = undefined;
    this.#openGate();
  }

  acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    return this.#call('acquire', () => this.store.acquire(command));
  }

  beat(command: BeatCommand): Promise<BeatAnswer> {
    return this.#call('beat', () => this.store.beat(command));
  }

  leave(command: LeaveCommand): Promise<LeaveAnswer> {
    return this.#call('leave', () => this.store.leave(command));
  }

  revoke(command: RevokeCommand): Promise<RevokeAnswer> {
    return this.store.revoke(command);
  }

  inspect(key: string, shown?: number): Promise<LockState | undefined> {
    this.inspections.push(shown);
    return this.store.inspect(key, shown);
  }

  list(limit: number, signal?: AbortSignal): Promise<readonly LockState[]> {
    return this.store.list(limit, signal);
  }

  async subscribe(process: string, receive: (message: LockMessage) => void, resumed?: () => void): Promise<void> {
    await this.#gate;
    const hear = (message: LockMessage): void => {
      this.#hear(() => {
        receive(message);
      });
    };
    await this.store.subscribe(process, hear, resumed);
    this.#stand();
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(process);
  }

  async #call<Answer>(call: Call, run: () => Promise<Answer>): Promise<Answer> {
    this.calls[call] += 1;
    const fault = this.#isDead ? 'unsent' : (this.#next.get(call)?.shift() ?? this.#always.get(call));
    if (fault === undefined) return run();
    if (fault === 'unsent') return NEVER;
    if (fault === 'lost') return run().then(() => NEVER);
    if ('fails' in fault) throw fault.fails;
    if ('runsAfterMs' in fault) return pass(fault.runsAfterMs).then(run);
    const answer = await run();
    await pass(fault.heardAfterMs);
    return answer;
  }

  #hear(receive: () => void): void {
    if (this.#isDead || this.hears === 'nothing') return;
    if (typeof this.hears === 'object') {
      setTimeout(receive, this.hears.afterMs);
      return;
    }
    receive();
    if (this.hears === 'everything twice') setImmediate(receive);
  }
}

const NEVER = new Promise<never>(() => undefined);
