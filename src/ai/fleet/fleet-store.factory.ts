import type { AnyStore } from '../../store/index.js';
import type { FleetStore } from './fleet.store.js';
import { MemoryFleetStore } from './memory-fleet.store.js';
import { RedisFleetStore } from './redis-fleet.store.js';

/** The fleet's store on what StoreModule provides under STORE. */
export function fleetStoreOn(store: AnyStore): FleetStore {
  return store.kind === 'memory' ? new MemoryFleetStore() : new RedisFleetStore(store);
}
