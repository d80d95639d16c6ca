/**
 * Which news of a switch is late. The sentinel that led a failover tells of its switch only when all replicas have followed, where one
 * is gone `failover-timeout` later, and by then the others may have begun to leave that next master again.
 */
export class SwitchOrder {
  #left: string | undefined;
  #next: string | undefined;

  /** A failover leaves this master, for nobody knows whom. */
  leave(master: string): void {
    [this.#left, this.#next] = [master, undefined];
  }

  /** False: the next one is the master that was left last, and not the one who followed it hands back to it. */
  takes(old: string, next: string): boolean {
    if (next === this.#left && old !== this.#next) return false;
    [this.#left, this.#next] = [old, next];
    return true;
  }
}
