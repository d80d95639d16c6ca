import type { AcquisitionRequest } from '../../src/lock/client/acquisition.js';
import type { ClientEnvironment, Hear, LockLine } from '../../src/lock/client/client.ports.js';
import { LockClient } from '../../src/lock/client/lock.client.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
} from '../../src/lock/lock.store.js';

interface Call<Command, Answer> {
  readonly command: Command;
  readonly sentAt: number;
  answer(answer: Answer): void;
  silence(): void;
  fail(error: Error): void;
}

/** A client whose time and store are in the test's hand: nothing is answered unless the test says so. */
export class ClientRig {
  readonly acquires: Call<AcquireCommand, AcquireAnswer>[] = [];
  readonly beats: Call<BeatCommand, BeatAnswer>[] = [];
  readonly leaves: Call<LeaveCommand, LeaveAnswer>[] = [];
  readonly events: string[] = [];
  readonly client: LockClient;
  now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  constructor(Client: typeof LockClient = LockClient) {
    const environment: ClientEnvironment = {
      now: () => this.now,
      random: () => 0.5,
      after: (ms, run) => {
        const timer = { at: this.now + Math.max(0, ms), run };
        this.#timers.push(timer);
        return {
          cancel: () => {
            this.#timers = this.#timers.filter((one) => one !== timer);
          },
        };
      },
    };
    const line: LockLine = {
      acquire: (command, hear) => this.acquires.push(this.#call(command, hear)),
      beat: (command, hear) => this.beats.push(this.#call(command, hear)),
      leave: (command, hear) => this.leaves.push(this.#call(command, hear)),
    };
    this.client = new Client('p', environment, line);
  }

  get timers(): number {
    return this.#timers.length;
  }

  acquire(options: Partial<AcquisitionRequest> = {}) {
    const usual = { key: 'k', weight: 1, capacity: 1, leaseMs: 30_000, waits: true, minHoldMs: 0, description: '' };
    const request: AcquisitionRequest = { ...usual, maxHoldMs: Infinity, ...options };
    return this.client.acquire(request, {
      held: () => this.events.push(`held at ${this.now}`),
      failed: ({ kind }) => this.events.push(`failed: ${kind} at ${this.now}`),
      lost: (reason) => this.events.push(`lost: ${reason} at ${this.now}`),
    });
  }

  /** Lets time pass, timer by timer. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = this.#timers.reduce<{ at: number; run: () => void } | undefined>(
        (first, timer) => (timer.at <= end && (first === undefined || timer.at < first.at) ? timer : first),
        undefined,
      );
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }

  #call<Command, Answer>(command: Command, hear: Hear<Answer>): Call<Command, Answer> {
    return {
      command,
      sentAt: this.now,
      answer: (answer) => {
        hear({ isAnswered: true, answer });
      },
      silence: () => {
        hear({ isAnswered: false, error: new Error('silence') });
      },
      fail: (error) => {
        hear({ isAnswered: false, error });
      },
    };
  }
}
