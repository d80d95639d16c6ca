import { LockService, type LockServiceOptions, type LockStore, MemoryLockStore } from '../../src/lock/index.js';

/** Several lock services on one store, as pods would be; closed together. */
export class LockPods {
  readonly store: LockStore;
  readonly #services: LockService[] = [];

  constructor(store: LockStore = new MemoryLockStore()) {
    this.store = store;
  }

  pod(options: LockServiceOptions = {}): LockService {
    const service = new LockService(this.store, { graceMs: 0, ...options });
    this.#services.push(service);
    return service;
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.close()));
  }
}
