import { type ChildProcess, spawn } from 'node:child_process';
import type { RedisStoreOptions } from '../../src/store/index.js';
import { eventually } from './eventually.js';
import { monotonicNow } from './lock-worker.js';
import { ROOT } from './planted-project.js';
import type { Ended } from './spawned-server.js';

export interface Wish {
  /** By which it is found again. */
  readonly name: string;
  readonly key: string;
  /** finishes: after 0.7 s, whatever happens · obeys: when its signal aborts · ignores: goes on for a minute */
  readonly work: 'finishes' | 'obeys' | 'ignores';
  /** Default 30 000. */
  readonly leaseMs?: number;
}

/** What became of a wish so far. Times are of the machine's monotonic clock, ms. */
export interface Fate {
  heldAt?: number;
  workedAt?: number;
  /** released, or the name of an error. */
  outcome?: string;
}

type AppEvent =
  | { readonly event: 'ready' }
  | { readonly event: 'held'; readonly name: string; readonly at: number }
  | { readonly event: 'worked'; readonly name: string; readonly at: number }
  | { readonly event: 'settled'; readonly name: string; readonly outcome: string };

/** A pod: an application of Nest in a process of its own; see lock-app-process.mjs. */
export class LockApp {
  readonly ended: Promise<Ended & { readonly at: number }>;
  readonly #child: ChildProcess;
  readonly #fates = new Map<string, Fate>();
  #isReady = false;

  private constructor(settings: { readonly storeOptions: RedisStoreOptions; readonly graceMs: number }) {
    const endWithParent = ['--import', `${ROOT}test/support/end-with-parent.mjs`];
    const script = [...endWithParent, 'test/support/lock-app-process.mjs', JSON.stringify(settings)];
    this.#child = spawn(process.execPath, script, { cwd: ROOT, env: {}, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    let [output, errors] = ['', ''];
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
    this.#child.on('message', (message) => {
      if (isAppEvent(message)) this.#hear(message);
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        resolve({ code, signal, output, errors, at: monotonicNow() });
      });
    });
  }

  /** Resolves when it has connected. */
  static async start(settings: { storeOptions: RedisStoreOptions; graceMs: number }): Promise<LockApp> {
    const app = new LockApp(settings);
    await Promise.race([
      eventually(() => app.#isReady),
      app.ended.then(({ errors }) => {
        if (!app.#isReady) throw new Error(`the application ended before it was ready: ${errors}`);
      }),
    ]);
    return app;
  }

  take(wish: Wish): void {
    this.#fates.set(wish.name, {});
    this.#child.send({ take: { leaseMs: 30_000, waitMs: 60_000, ...wish } });
  }

  fate(name: string): Fate {
    return this.#fates.get(name) ?? {};
  }

  /** Ends it without a signal. */
  close(): void {
    this.#child.send({ close: true });
  }

  /** @returns when it was sent */
  signal(signal: NodeJS.Signals): number {
    this.#child.kill(signal);
    return monotonicNow();
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #hear(message: AppEvent): void {
    if (message.event === 'ready') {
      this.#isReady = true;
      return;
    }
    const fate = this.#fates.get(message.name) ?? {};
    this.#fates.set(message.name, fate);
    if (message.event === 'held') fate.heldAt = message.at;
    else if (message.event === 'worked') fate.workedAt = message.at;
    else fate.outcome = message.outcome;
  }
}

function isAppEvent(message: unknown): message is AppEvent {
  return typeof message === 'object' && message !== null && 'event' in message && typeof message.event === 'string';
}
