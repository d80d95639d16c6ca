import { StoreUnavailableError } from '../../src/store/index.js';

/** One process's way to a store, which ends with the process. */
export class Lifeline {
  #isCut = false;

  /** From now on nothing that is asked is answered. */
  cut(): void {
    this.#isCut = true;
  }

  /** The store as that process sees it. */
  to<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get: (target, name): unknown => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const isCut = this.#isCut && name !== 'unsubscribe';
        return isCut ? () => Promise.reject(new StoreUnavailableError('the process is gone')) : member.bind(target);
      },
    });
  }
}
