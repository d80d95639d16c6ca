/**
 * Which news of a switch is late, and which was missed. The sentinel that led a failover tells of its switch only when all replicas
 * have followed, where one is gone `failover-timeout` later, and by then the others may have begun to leave that next master again.
 */
export class SwitchOrder {
  #left: string | undefined;
  #next: string | undefined;
  /** Of the failover that made the next one the master, or an earlier one. Undefined: no sentinel was asked yet. */
  #epoch: number | undefined;

  /** The master that was left last, where one was. */
  get left(): string | undefined {
    return this.#left;
  }

  /** A failover leaves this master, for nobody knows whom. */
  leave(master: string): void {
    [this.#left, this.#next] = [master, undefined];
  }

  /** False: the next one is the master that was left last, and not the one who followed it hands back to it. */
  takes(old: string, next: string): boolean {
    if (next === this.#left && old !== this.#next) return false;
    // Messages do not tell the epoch of their failover; each has a greater one than the last.
    if (next !== this.#next && this.#epoch !== undefined) this.#epoch += 1;
    [this.#left, this.#next] = [old, next];
    return true;
  }

  /**
   * Takes what a sentinel says who is asked. True: nobody told of that switch. False also for one that knows less than others did,
   * since it was cut off from them or begins with an old configuration.
   *
   * @param epoch `config-epoch`: sentinels count their failovers by it
   */
  hasMissed(master: string, epoch: number): boolean {
    const isBeingLeft = this.#next === undefined && master === this.#left;
    const known = this.#epoch;
    this.#epoch = Math.max(epoch, known ?? epoch);
    if (isBeingLeft || master === this.#next) return false;
    if (known === undefined) this.#next ??= master;
    if (known === undefined || epoch <= known) return false;
    [this.#left, this.#next] = [this.#next ?? this.#left, master];
    return true;
  }
}
