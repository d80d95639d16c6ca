import { Worker } from 'node:worker_threads';
import { isRecord } from './counted.part.js';

export interface CountingThreadOptions {
  readonly onFailure: (error: Error) => void;
  /** What the thread runs. Default: counting.worker.mjs. */
  readonly script?: URL;
  /** Batches that are handed over and unanswered; beyond it counting is refused. Default 1,024. */
  readonly maxUnanswered?: number;
  /** A thread that answers nothing for so long is replaced. Milliseconds, default 30,000. */
  readonly stallMs?: number;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

const WORKER = new URL('./counting.worker.mjs', import.meta.url);
/** Both vocabularies take 35 MB; running out of it ends the thread alone, not the process. */
const MAX_HEAP_MB = 256;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Starts the thread when there is work, and replaces it when it breaks: at once the first time, then after pauses that double up to a minute until one
 * answers. While it has work it keeps the process alive.
 */
export class CountingThread {
  private readonly options: Required<CountingThreadOptions>;
  /** In cells, which are empty once they are answered: a Map's outgrown tables may hold what lay in them for long. */
  private readonly waiting = new Map<number, { answer: ((tokens: number | undefined) => void) | undefined }>();
  private worker: Worker | undefined;
  private watchdog: NodeJS.Timeout | undefined;
  private lastId = 0;
  /** Batches in the thread, given up by their caller or not. */
  private unanswered = 0;
  private answers = 0;
  /** Since the last answer. */
  private failures = 0;
  private restartAt = -Infinity;
  private closing: Promise<void> | undefined;

  constructor(options: CountingThreadOptions) {
    this.options = {
      script: WORKER,
      maxUnanswered: 1_024,
      stallMs: 30_000,
      clock: () => performance.now(),
      ...options,
    };
  }

  /** The tokens of the pieces; undefined when the thread has too much work, breaks, pauses or is closed, or the signal aborts. Never rejects. */
  count(encoding: string, pieces: readonly string[], signal: AbortSignal): Promise<number | undefined> {
    if (signal.aborted || !this.hasRoom()) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.lastId += 1;
      const id = this.lastId;
      const giveUp = (): void => {
        this.settle(id, undefined);
      };
      const answer = (tokens: number | undefined): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(tokens);
      };
      this.waiting.set(id, { answer });
      signal.addEventListener('abort', giveUp, { once: true });
      this.post({ id, encoding, pieces });
    });
  }

  /** Ends the thread. Idempotent. */
  close(): Promise<void> {
    this.closing ??= this.drop();
    return this.closing;
  }

  private hasRoom(): boolean {
    const { maxUnanswered, clock } = this.options;
    return this.closing === undefined && this.unanswered < maxUnanswered && clock() >= this.restartAt;
  }

  private post(message: { id: number; encoding: string; pieces: readonly string[] }): void {
    try {
      this.worker ??= this.start();
    } catch (error) {
      // The system gave no thread.
      this.fail(toError(error));
      return;
    }
    this.worker.ref();
    this.worker.postMessage(message);
    this.unanswered += 1;
    if (this.watchdog === undefined) this.watch();
  }

  private start(): Worker {
    // No environment: it holds keys. No arguments: what the process was started with is for the process.
    const worker = new Worker(this.options.script, {
      name: 'token counting',
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const failed = (error: Error): void => {
      if (worker === this.worker) this.fail(error);
    };
    worker.on('message', (answer: unknown) => {
      if (worker === this.worker) this.take(answer);
    });
    worker.on('messageerror', failed);
    worker.on('error', (error: unknown) => {
      failed(toError(error));
    });
    worker.on('exit', (code) => {
      failed(new Error(`the counting thread ended with ${String(code)}`));
    });
    return worker;
  }

  private take(answer: unknown): void {
    const { id, tokens } = isRecord(answer) ? answer : {};
    if (typeof id !== 'number' || typeof tokens !== 'number') {
      this.fail(new Error('the counting thread answered something else'));
      return;
    }
    this.unanswered -= 1;
    this.answers += 1;
    this.failures = 0;
    this.settle(id, tokens);
    if (this.unanswered === 0) {
      this.worker?.unref();
      this.stopWatching();
    } else {
      this.watchdog?.refresh();
    }
  }

  private fail(error: Error): void {
    this.failures += 1;
    const pauseMs = this.failures === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failures - 2));
    this.restartAt = this.options.clock() + pauseMs;
    void this.drop();
    this.options.onFailure(error);
  }

  /** Lets the thread go; who waits for it is told. */
  private async drop(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    this.unanswered = 0;
    this.stopWatching();
    for (const id of [...this.waiting.keys()]) {
      this.settle(id, undefined);
    }
    await worker?.terminate();
  }

  private settle(id: number, tokens: number | undefined): void {
    const cell = this.waiting.get(id);
    if (cell === undefined) return;
    const { answer } = cell;
    cell.answer = undefined;
    this.waiting.delete(id);
    answer?.(tokens);
  }

  private watch(): void {
    const { stallMs } = this.options;
    this.watchdog = setTimeout(() => {
      const { answers } = this;
      // A process that was stopped itself finds this timer due before it has read what came meanwhile.
      setImmediate(() => {
        if (this.watchdog !== undefined && this.answers === answers) {
          this.fail(new Error(`the counting thread answered nothing for ${String(stallMs)} ms`));
        }
      });
    }, stallMs).unref();
  }

  private stopWatching(): void {
    clearTimeout(this.watchdog);
    this.watchdog = undefined;
  }
}

/** What a thread throws is copied over without being an Error again. */
function toError(thrown: unknown): Error {
  const isLikeError = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
  return new Error(isLikeError ? String(thrown.message) : String(thrown), { cause: thrown });
}
