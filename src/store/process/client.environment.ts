/** Time and chance, as a client of the store sees them; a simulation brings its own. */
export interface ClientEnvironment {
  /** Milliseconds that never fall and that count the time in which this machine was suspended. */
  now(): number;
  /** Calls once, `ms` from now or later. */
  after(ms: number, run: () => void): ClientTimer;
  /** At least 0, less than 1. */
  random(): number;
}

export interface ClientTimer {
  cancel(): void;
}
