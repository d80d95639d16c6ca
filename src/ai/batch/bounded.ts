export interface Bounds {
  /** How many run at one time. */
  readonly concurrency: number;
  /** Once it has aborted, none is begun. */
  readonly signal: AbortSignal;
}

/**
 * Works through the numbers from 0 to `count`, in their order, a few at one time. Resolves when all that were begun are over.
 *
 * @param work - must not reject
 */
export async function runBounded(
  count: number,
  { concurrency, signal }: Bounds,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, lane));
}
