import { isIP } from 'node:net';
import type { Cluster, Redis } from 'ioredis';
import { isCluster } from './redis.clients.js';
import type { Address } from './redis.options.js';

/** Failovers that sentinels begin take a second or two; one that they give up leaves the master where it was. */
const LEFT_MS = 5_000;

/**
 * The master that a failover leaves, which may not know it: what it is told from now on is lost, so nobody goes back to it, also where
 * a sentinel still names it. Until it is named anew, or the failover must be over.
 */
export class LeftMaster {
  #address: Address | undefined;
  #until = -Infinity;

  /** @param now monotonic, ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  leave(master: Address): void {
    this.#address = master;
    this.#until = this.now() + LEFT_MS;
  }

  follow({ host, port }: Address): void {
    if (this.#address?.host === host && this.#address.port === port) this.#address = undefined;
  }

  isBehind(client: Redis | Cluster): boolean {
    return this.#address !== undefined && this.now() < this.#until && leadsTo(client, this.#address);
  }
}

/** False also where a name can't be compared. */
export function leadsTo(client: Redis | Cluster, { host, port }: Address): boolean {
  if (isCluster(client) || isIP(host) === 0) return false;
  return client.stream.remotePort === port && client.stream.remoteAddress === host;
}
