import { type ChildProcess, spawn } from 'node:child_process';
import type { LockMode } from '../../src/lock/index.js';
import type { RedisStoreOptions } from '../../src/store/index.js';
import { ROOT } from './planted-project.js';
import type { RedisServer } from './redis-server.js';

/** What a worker does over and over, in several tasks at once. */
export interface Load {
  readonly tasks: number;
  /** How often each task takes it. */
  readonly rounds: number;
  /** One of them each time. */
  readonly keySets: readonly (readonly string[])[];
  /** One of them each time. */
  readonly modes: readonly LockMode[];
  /** Whether by withLock(); else by acquire() and release(). */
  readonly isScoped: boolean;
  readonly leaseMs: number;
  readonly waitMs: number;
  /** Between these. */
  readonly holdMs: readonly [number, number];
  /** At most so long between two rounds. */
  readonly restMs: number;
}

/** How one wish was answered. Times are of the machine's monotonic clock, ms. */
export interface Settled {
  readonly keys: readonly string[];
  readonly waitMs: number;
  readonly askedAt: number;
  readonly settledAt: number;
  /** `granted`, or the name of an error. */
  readonly outcome: string;
}

/** One section under a lock, as far as the worker told. */
export interface Section {
  readonly worker: string;
  /** Of the first key. */
  readonly token: string;
  readonly holds: readonly { readonly key: string; readonly fence: number }[];
  readonly mode: LockMode;
  /** It was held at this time by its own word, and at `until`, and so all the time between. */
  readonly from: number;
  until: number;
  /** What it came to; undefined: its process was killed within it. */
  end?: SectionEnd;
}

export interface SectionEnd {
  /** Whether it was held to the end of the work. */
  readonly isDone: boolean;
  readonly isHeldAfter: boolean;
  /** Of a writer: how many of its writes its fence was too old for. */
  readonly refused?: number;
  /** Of a reader: what it read changed meanwhile, by the writer with this fence. */
  readonly changedBy?: number;
}

type WorkerEvent =
  | { readonly event: 'ready' | 'stopped' }
  | ({ readonly event: 'settled' } & Settled)
  | ({ readonly event: 'begun'; readonly id: number } & Omit<Section, 'until' | 'end'>)
  | ({ readonly event: 'ended'; readonly id: number; readonly until: number } & SectionEnd);

/** Now, by the clock of the workers. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A process that takes locks; see lock-process.mjs. */
export class LockWorker {
  readonly settled: Settled[] = [];
  readonly sections: Section[] = [];
  /** When it was stopped and went on, so that its delays can be told from the lock's. */
  readonly pauses: { readonly from: number; until: number }[] = [];
  readonly ready: Promise<void>;
  /** Resolves when it has said that all its wishes were settled and its locks and connections closed. */
  readonly stopped: Promise<void>;
  /** How it ended, with all that it wrote on standard error. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly errors: string }>;
  readonly #child: ChildProcess;
  readonly #byId = new Map<number, Section>();
  #hasStopped = false;
  #stopped: () => void = () => undefined;

  constructor(
    readonly name: string,
    settings: { readonly storeOptions: RedisStoreOptions; readonly guard: RedisServer },
  ) {
    const { storeOptions, guard } = settings;
    const argument = JSON.stringify({ storeOptions, guardAddress: { host: guard.host, port: guard.port } });
    const endWithParent = ['--import', `${ROOT}test/support/end-with-parent.mjs`];
    this.#child = spawn(process.execPath, [...endWithParent, 'test/support/lock-process.mjs', argument], {
      cwd: ROOT,
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.stopped = new Promise((resolve) => (this.#stopped = resolve));
    let errors = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        resolve({ code, signal, errors });
      });
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.on('message', (message) => {
        if (isWorkerEvent(message)) this.#hear(message, resolve);
      });
      void this.ended.then(() => {
        reject(new Error(`the worker ended before it was ready: ${errors}`));
      });
    });
  }

  /** Whether `stopped` has resolved. */
  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  get isPaused(): boolean {
    return this.pauses.at(-1)?.until === Infinity;
  }

  begin(load: Load): void {
    this.#child.send({ load });
  }

  /** Asks it to end: no further wishes. */
  stop(): void {
    if (this.#child.connected) this.#child.send({ stop: true });
  }

  pause(): void {
    this.pauses.push({ from: monotonicNow(), until: Infinity });
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    const last = this.pauses.at(-1);
    if (last?.until !== Infinity) return;
    this.#child.kill('SIGCONT');
    last.until = monotonicNow();
  }

  /** Ends it at once. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #hear(message: WorkerEvent, ready: () => void): void {
    switch (message.event) {
      case 'ready':
        ready();
        break;
      case 'stopped':
        this.#hasStopped = true;
        this.#stopped();
        break;
      case 'settled':
        this.settled.push(message);
        break;
      case 'begun': {
        const { id, from, token, holds, mode } = message;
        const section = { worker: this.name, from, until: from, token, holds, mode };
        this.#byId.set(id, section);
        this.sections.push(section);
        break;
      }
      case 'ended':
        this.#end(message);
    }
  }

  #end({ id, until, event: _, ...end }: Extract<WorkerEvent, { event: 'ended' }>): void {
    const section = this.#byId.get(id);
    if (section === undefined) throw new Error(`section ${id} of ${this.name} ended before it began`);
    section.until = until;
    section.end = end;
    this.#byId.delete(id);
  }
}

function isWorkerEvent(message: unknown): message is WorkerEvent {
  return typeof message === 'object' && message !== null && 'event' in message && typeof message.event === 'string';
}
