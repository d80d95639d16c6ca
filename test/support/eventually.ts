const PAUSE_MS = 25;

/**
 * Waits until the condition holds; an error counts as "not yet".
 * @throws {Error} when the ceiling is reached, with the last error as its cause
 */
export async function eventually(condition: () => boolean | Promise<boolean>, ceilingMs = 60_000): Promise<void> {
  const end = performance.now() + ceilingMs;
  let cause: unknown;
  do {
    try {
      if (await condition()) return;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } while (performance.now() < end);
  throw new Error(`it did not come true within ${ceilingMs} ms: ${condition.toString()}`, { cause });
}
