import type { AcquireCommand, BeatCommand, LeaveCommand, LockState } from '../../src/lock/lock.store.js';
import { HolderRules } from './holder.rules.js';
import { LeaseRules } from './lease.rules.js';
import type { Pod, Wish, Witness } from './pod.js';
import { TimeRules } from './time.rules.js';
import { FAULTS_END, type World } from './world.js';

/** What a leave that was lost with the store's data leaves behind may stay for as long, ms. */
const LONGEST_LEASE_MS = 13_000;
/** A queue outlives the last command on it by so long, ms. */
const QUEUE_MS = 9_900;
/** A process that gave a sign of life so recently is alive for the store, ms. */
const SURELY_ALIVE_MS = 1_450;

interface SignOfLife {
  readonly at: number;
  forgivenMs: number;
}

interface Place {
  readonly description: string;
  readonly token: string;
  readonly ticket: number;
}

/** Looks at the store after every command and at the pods all the time, and knows what must never be. */
export class Watcher implements Witness {
  readonly wishes = new Map<string, Wish>();
  readonly pods = new Map<string, Pod>();
  readonly holders: HolderRules;
  readonly leases: LeaseRules;
  readonly #times: TimeRules;
  /** The oldest place that a wish was told of; a place whose answer was lost is nobody's. */
  readonly #told = new Map<string, { readonly token: string; readonly ticket: number }>();
  readonly #lastSign = new Map<string, SignOfLife>();
  readonly #left = new Set<string>();
  readonly #before = new Map<string, LockState | undefined>();

  constructor(private readonly world: World) {
    this.holders = new HolderRules(world, this.pods);
    this.leases = new LeaseRules(world);
    this.#times = new TimeRules(world, this.pods, this.wishes);
  }

  acquireRan(pod: Pod, { key, waits }: AcquireCommand): void {
    if (waits) this.#sign(key, pod.name);
    this.#look(key);
  }

  /** A token whose answer was lost may get a second place; the tokens that follow keep the oldest that was told. */
  placeTold({ description, token }: AcquireCommand, ticket: number): void {
    if (this.wishes.get(description)?.acquisition?.token !== token) return;
    const told = this.#told.get(description) ?? { token, ticket };
    this.#told.set(description, { token: told.token, ticket: Math.min(told.ticket, ticket) });
  }

  beatSent(command: BeatCommand): void {
    this.leases.renewalSent(command);
  }

  beatRan(pod: Pod, { key, waiters }: BeatCommand): void {
    if (waiters.length > 0) this.#sign(key, pod.name);
    this.#look(key);
  }

  /** While the store stands still nobody can give a sign of life: the gap rule forgives it, up to its bound. */
  storePaused(milliseconds: number): void {
    for (const sign of this.#lastSign.values()) {
      sign.forgivenMs = Math.min(5_000, sign.forgivenMs + Math.max(0, milliseconds - 800));
    }
  }

  /** @param mode `now` takes the lock from its holders before they know: from here on only the fence keeps them out */
  revokeRan(key: string, mode: 'drain' | 'now'): void {
    const holders = this.#before.get(key)?.holders ?? [];
    if (mode === 'now') this.holders.takenAway(holders);
    this.#look(key, (state) => {
      const kept = state?.holders.filter(({ token }) => holders.some((holder) => holder.token === token)) ?? [];
      if (mode === 'now' && kept.length > 0) this.world.violate('revoked and kept', JSON.stringify(kept));
    });
  }

  leaveRan({ key, token }: LeaveCommand): void {
    this.#left.add(token);
    this.#look(key);
  }

  /** The store lost data: tombstones, signs of life and leaves among them. */
  storeLost(): void {
    this.#left.clear();
    this.#lastSign.clear();
    this.#before.clear();
  }

  checkDeadlines(): void {
    for (const pod of this.pods.values()) if (!pod.isDead) this.leases.look(pod);
  }

  /** Everybody was served or told, and nothing is left; of a store that is gone, only who wants to wait for it still waits. */
  checkRest(keys: readonly string[]): void {
    for (const pod of this.pods.values()) {
      if (pod.isDead) continue;
      for (const { acquisition, id } of pod.wishes) {
        if (this.world.isStoreGone && isWaiting(acquisition)) continue;
        this.world.violate('starvation', `${id} is ${acquisition?.state ?? 'gone'}`);
      }
    }
    for (const key of this.world.isStoreGone ? [] : keys) {
      this.world.ask(
        (store) => store.inspect(key),
        (state) => {
          if (state !== undefined) this.world.violate('residue', JSON.stringify(state));
        },
      );
    }
  }

  #sign(key: string, pod: string): void {
    this.#lastSign.set(`${key}/${pod}`, { at: this.world.now, forgivenMs: 0 });
  }

  #isAlive(key: string, pod: string): boolean {
    return this.#isFresh(this.#lastSign.get(`${key}/${pod}`));
  }

  #isFresh(sign: SignOfLife | undefined): boolean {
    return sign !== undefined && this.world.now - sign.at - sign.forgivenMs < SURELY_ALIVE_MS;
  }

  #look(key: string, then: (state: LockState | undefined) => void = () => undefined): void {
    const { world } = this;
    const time = world.now;
    world.look(
      (store) => store.inspect(key),
      (state) => {
        if (world.now !== time) throw new Error('the store was looked at too late');
        const before = this.#before.get(key);
        this.#before.set(key, state);
        if (state !== undefined) {
          this.#lookAtWaiters(state);
          this.#lookAtGrants(state, before);
          this.#lookForGhosts(state);
        }
        const gap = this.#times.look(key, state);
        if (gap < QUEUE_MS) this.#lookForDropped(before, state);
        then(state);
        this.holders.check(key);
        this.checkDeadlines();
      },
    );
  }

  #lookAtWaiters({ key, holders, used, waiters }: LockState): void {
    const [first] = waiters;
    const wish = first === undefined ? undefined : this.wishes.get(first.description);
    if (wish === undefined || !this.#isAlive(key, wish.pod.name)) return;
    // By what the holders and the first waiter ask for themselves; whoever left or was refused has no say.
    const capacities = holders.map(({ description }) => this.wishes.get(description)?.capacity ?? 0);
    const capacity = Math.min(wish.capacity, ...capacities);
    if (used + Math.min(wish.weight, capacity) <= capacity)
      this.world.violate('idle capacity', `${wish.id} fits but waits`);
  }

  /** The place that the wish keeps across tokens; else the one the store gave, none for who went in at once. */
  #arrivalOf(place: Place): number {
    const told = this.#told.get(place.description);
    return told === undefined || told.token === place.token ? place.ticket : told.ticket;
  }

  #lookAtGrants({ key, holders, waiters }: LockState, before: LockState | undefined): void {
    const grants = holders.filter((grant) => this.holders.isNew(grant));
    const places = new Map(before?.waiters.map(({ token, ticket }) => [token, ticket]));
    // Who came back to an old place in this very command came after the grant.
    const passable = waiters.filter(({ token }) => places.has(token));
    for (const grant of [...grants].sort((one, other) => one.fence - other.fence)) {
      this.holders.granted(key, grant);
      const ticket = places.get(grant.token);
      if (ticket !== undefined && this.pods.get(grant.process)?.isLongDead === true) {
        this.world.violate('granted to the dead', grant.token);
      }
      this.#lookForPassed(key, { ...grant, ticket: ticket ?? Infinity }, passable);
    }
  }

  #lookForPassed(key: string, granted: Place, waiters: LockState['waiters']): void {
    // A token that was given up may still stand in an older place; its grant is undone, and passes nobody.
    const arrival = Math.min(this.#arrivalOf(granted), granted.ticket);
    for (const waiter of waiters) {
      if (this.#arrivalOf(waiter) < arrival && this.#isAlive(key, waiter.process)) {
        this.world.violate('fifo', `${granted.description} passed ${waiter.description} on ${key}`);
      }
    }
  }

  /** Nothing comes back that was given up, and nothing stays that nobody has. */
  #lookForGhosts({ holders, waiters }: LockState): void {
    const places = [...holders.filter(({ state }) => state === 'held' || state === 'granted'), ...waiters];
    for (const { token, description, process } of places) {
      const wish = this.wishes.get(description);
      if (wish === undefined || this.pods.get(process)?.isDead === true) continue;
      if (this.#left.has(token)) this.world.violate('ghost', `${token} is back after its leave`);
      if (this.#isLongOver(wish)) this.world.violate('ghost', `${token} of ${description} is held by nobody`);
    }
  }

  /** So long that its pod has told the store, whatever was on its way when the faults ended. */
  #isLongOver({ overAt }: Wish): boolean {
    return overAt !== undefined && this.world.now > Math.max(FAULTS_END + LONGEST_LEASE_MS, overAt + 4_000);
  }

  /** Only a process without signs of life loses its places; the command itself is one, before others are looked at. */
  #lookForDropped(before: LockState | undefined, after: LockState | undefined): void {
    if (before === undefined || !this.world.keepsData || this.world.weather === 'clocks') return;
    const kept = new Set(after === undefined ? [] : [...after.holders, ...after.waiters].map(({ token }) => token));
    for (const { token, process } of before.waiters) {
      if (kept.has(token) || this.#left.has(token) || !this.#isAlive(before.key, process)) continue;
      this.world.violate('dropped', `${token} waits and its process lives`);
    }
  }
}

function isWaiting(acquisition: Wish['acquisition']): boolean {
  return acquisition?.request.waits === true && acquisition.state !== 'held';
}
