import { StoreTimeoutError } from './store.errors.js';

/** When an answer is of no use any more. */
export interface Deadline {
  readonly isOver: boolean;
}

/**
 * Settles by the deadline, whatever the work does: its late result or error is dropped. The work looks at the deadline before it
 * sends, so that nothing is sent for a caller who has left.
 *
 * @throws StoreTimeoutError
 */
export function withDeadline<T>(
  command: string,
  timeoutMs: number,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = { isOver: false };
  return new Promise<T>((resolve, reject) => {
    const result = work(deadline);
    // After the work has begun: what it sends is on its way by now.
    const timer = setTimeout(() => {
      deadline.isOver = true;
      reject(new StoreTimeoutError(command, timeoutMs));
    }, timeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
    };
    // Not finally(): that makes four promises more, on the way of every command.
    result.then(stop, stop);
    result.then(resolve, reject);
  });
}
