/**
 * Keeps what an observer throws from those who tell it, and says so once, by a warning of the process. Its methods are told as they are,
 * and answer nothing.
 *
 * @param whose - what it observes, as the warning calls it
 */
export function guardedObserver<Observer extends object>(observer: Observer, whose: string): Observer {
  let hasWarned = false;
  const failed = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    process.emitWarning(`the observer of ${whose} failed, and goes on being told: ${String(error)}`, 'ObserverWarning');
  };
  return new Proxy(observer, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...facts: readonly unknown[]): void => {
        try {
          Reflect.apply(method, target, facts);
        } catch (error) {
          failed(error);
        }
      };
    },
  });
}
