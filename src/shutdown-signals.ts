/** The part of `process` that is needed; a test passes its own. */
export interface SignalHost {
  on(signal: ShutdownSignal, listener: () => void): unknown;
  off(signal: ShutdownSignal, listener: () => void): unknown;
  exit(code: number): void;
}

export type ShutdownSignal = 'SIGTERM' | 'SIGINT';

/** 128 + the signal's number, as shells count (POSIX). */
const EXIT_CODES: Readonly<Record<ShutdownSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** One Ctrl-C reaches a child of npm twice: from the terminal and from npm, a few milliseconds apart. */
const ECHO_MS = 100;

/**
 * Runs the shutdown on the first SIGTERM or SIGINT and exits with 0 after it (1 if it rejects). A second signal exits at once with
 * 130 or 143, for whoever can't wait; an echo of the first within 100 ms is not a second one.
 * @param run reports its own failure; only the exit code tells of it here
 * @returns takes the listeners off again
 */
export function onShutdownSignals(run: () => Promise<void>, host: SignalHost = process): () => void {
  let firstAt: number | undefined;
  const receive = (signal: ShutdownSignal): void => {
    const now = performance.now();
    if (firstAt !== undefined) {
      if (now - firstAt >= ECHO_MS) host.exit(EXIT_CODES[signal]);
      return;
    }
    firstAt = now;
    run().then(
      () => {
        host.exit(0);
      },
      () => {
        host.exit(1);
      },
    );
  };
  const onTerm = (): void => {
    receive('SIGTERM');
  };
  const onInt = (): void => {
    receive('SIGINT');
  };
  host.on('SIGTERM', onTerm);
  host.on('SIGINT', onInt);
  return () => {
    host.off('SIGTERM', onTerm);
    host.off('SIGINT', onInt);
  };
}
