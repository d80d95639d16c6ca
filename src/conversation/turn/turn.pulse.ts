import type { ClientEnvironment, ClientTimer } from '../../store/index.js';

/** Wakes a reader of a turn: what was told before it began to wait is not lost. To be closed. */
export class TurnPulse {
  #hasNews = false;
  #wake: ((hasNews: boolean) => void) | undefined;
  #timer: ClientTimer | undefined;
  readonly #over: () => void;

  /** @param hear - calls back with every piece of news until it is undone */
  constructor(
    hear: (listener: () => void) => () => void,
    private readonly signal: AbortSignal,
    private readonly environment: Pick<ClientEnvironment, 'after'>,
  ) {
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
   * Waits for news, at most so long.
   *
   * @returns whether there was any since the last time
   * @throws the signal's reason
   */
  async next(limitMs: number): Promise<boolean> {
    const hasNews = this.#hasNews || this.signal.aborted || (await this.#wait(limitMs));
    this.signal.throwIfAborted();
    this.#hasNews = false;
    return hasNews;
  }

  close(): void {
    this.#over();
  }

  #wait(limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const woken = (hasNews: boolean): void => {
        this.#timer?.cancel();
        this.#wake = undefined;
        resolve(hasNews);
      };
      this.#wake = woken;
      this.#timer = this.environment.after(limitMs, () => {
        woken(false);
      });
    });
  }
}
