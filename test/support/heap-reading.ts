import { once } from 'node:events';
import { ROOT } from './planted-project.js';
import type { SpawnedServer } from './spawned-server.js';

/** What a server holds after garbage collection. */
export interface HeapReading {
  /** Bytes. */
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Kinds of whatever keeps its event loop alive: sockets, timers, requests. */
  readonly resources: readonly string[];
}

/** Options of Node for a server that can be asked. */
export const PROBED = ['--expose-gc', '--import', `${ROOT}test/support/heap-probe.mjs`];

/** @param server started with PROBED */
export async function readHeap({ process: child }: SpawnedServer): Promise<HeapReading> {
  const answer = once(child, 'message');
  child.send('heap');
  const [reading] = (await answer) as [HeapReading];
  return reading;
}

/** How many of each kind. */
export function counted(resources: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of resources) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
