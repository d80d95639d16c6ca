import type { ClientEnvironment, ClientTimer } from '../../store/index.js';

export interface PulseOptions {
  /** Ends the reading. */
  readonly signal: AbortSignal;
  readonly environment: Pick<ClientEnvironment, 'after'>;
  /** How long news is waited for, ms. */
  readonly quietMs: number;
}

/** Wakes a reader of a turn: what was told before it began to wait is not lost. To be closed. */
export class TurnPulse {
  #hasNews = false;
  #wake: ((hasNews: boolean) => void) | undefined;
  #timer: ClientTimer | undefined;
  readonly #over: () => void;

  /** @param hear - calls back with every piece of news until it is undone */
  constructor(
    hear: (listener: () => void) => () => void,
    private readonly options: PulseOptions,
  ) {
    const { signal } = options;
    const wake = (): void => {
      this.#hasNews = true;
      this.#wake?.(true);
    };
    const deafen = hear(wake);
    signal.addEventListener('abort', wake);
    this.#over = () => {
      deafen();
      signal.removeEventListener('abort', wake);
      this.#timer?.cancel();
    };
  }

  /**
   * Waits for news, but not for ever.
   *
   * @returns whether there was any since the last time
   * @throws the signal's reason
   */
  async next(): Promise<boolean> {
    const { signal } = this.options;
    const hasNews = this.#hasNews || signal.aborted || (await this.#wait());
    signal.throwIfAborted();
    this.#hasNews = false;
    return hasNews;
  }

  close(): void {
    this.#over();
  }

  #wait(): Promise<boolean> {
    const { environment, quietMs } = this.options;
    return new Promise((resolve) => {
      const woken = (hasNews: boolean): void => {
        this.#timer?.cancel();
        this.#wake = undefined;
        resolve(hasNews);
      };
      this.#wake = woken;
      this.#timer = environment.after(quietMs, () => {
        woken(false);
      });
    });
  }
}
