import { escapeName } from '../../store/index.js';
import type { TopicName } from './fleet.store.js';

/** All cells lie in one slot. The number rises with the format of the bodies, so that pods of two versions don't read each other. */
const TAG = 'fl:{fleet}:1:';

/** The key of a cell. */
export function cellKey(prefix: string, topic: TopicName, id: string): string {
  return `${prefix}${TAG}${topic}:${escapeName(id)}`;
}

/** Where news are published. */
export function newsChannel(prefix: string): string {
  return `${prefix}${TAG}news`;
}
