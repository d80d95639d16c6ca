import { loadScripts, type LoadOptions, type Script } from '../../store/index.js';
import { TOPIC_NAMES, type TopicName } from './fleet.store.js';

export type FleetScripts = Readonly<Record<TopicName, Script>>;

/** Reads scripts/ at start. @throws {Error} where a header is not what its script does */
export function loadFleetScripts(options: LoadOptions = {}): FleetScripts {
  return loadScripts(new URL('./scripts/', import.meta.url), TOPIC_NAMES, options);
}
