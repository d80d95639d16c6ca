import { Pod } from './pod.js';
import { Watcher } from './watcher.js';
import { startTask } from './section.js';
import { Workload } from './workload.js';
import { FAULTS_END, REST_AT, type Subject, World } from './world.js';

export interface SimulationResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly seen: ReadonlyMap<string, number>;
  readonly sections: number;
  readonly events: number;
  readonly log: readonly string[];
}

/** More events than any seed needs, by far. */
const MAX_EVENTS = 400_000;

/** Runs one seed to its rest; the same seed gives the same run. @param isLogged keep every event, for reading */
export async function simulate(seed: number, subject: Subject, isLogged = false): Promise<SimulationResult> {
  const world = new World(seed, subject, isLogged);
  const watcher = new Watcher(world);
  const workload = new Workload(world, watcher);
  new Faults(world, watcher, workload).start();
  const events = await run(world, watcher);
  world.now = REST_AT;
  watcher.checkRest(workload.keys);
  await world.settle();
  const drainMs = workload.lastEnd - FAULTS_END - 10_000;
  if (drainMs > 40_000)
    world.violate('slow drain', `the last section ended ${drainMs.toFixed(0)} ms after the last began`);
  const { violations, seen, log } = world;
  return { seed, violations, seen, sections: workload.sections, events, log };
}

async function run(world: World, watcher: Watcher): Promise<number> {
  let events = 0;
  for (let event = world.queue.next(); event !== undefined; event = world.queue.next()) {
    if (event.isCancelled) continue;
    if (event.at > REST_AT) {
      judgeUnrest(world);
      break;
    }
    world.now = event.at;
    const pod = event.owner === undefined ? undefined : watcher.pods.get(event.owner);
    if (pod?.isDead === true) continue;
    if (pod !== undefined && pod.pausedUntil > world.now) {
      world.queue.again(event, pod.pausedUntil + world.random.next() * 0.01);
      continue;
    }
    event.run();
    await world.settle();
    events += 1;
    if (events > MAX_EVENTS) {
      world.violate('livelock', 'too many events');
      break;
    }
  }
  return events;
}

/** Who waits for a store that is gone asks for as long as it waits. */
function judgeUnrest(world: World): void {
  if (!world.isStoreGone) world.violate('unrest', 'something goes on for ever');
}

/** Pods that stall, die and come, a store that stalls and forgets, clocks that step, operators that revoke. */
class Faults {
  #pods = 0;

  constructor(
    private readonly world: World,
    private readonly watcher: Watcher,
    private readonly workload: Workload,
  ) {}

  start(): void {
    const { random } = this.world;
    const pods = 2 + random.below(3);
    for (let pod = 0; pod < pods; pod += 1) this.#addPod();
    this.#plan(500 + random.next() * 1_500);
  }

  #plan(at: number): void {
    if (at >= FAULTS_END) return;
    this.world.at(at, () => {
      this.#strike(this.world.random.next());
      this.#plan(this.world.now + 200 + this.world.random.next() * 2_500);
    });
  }

  #strike(chance: number): void {
    const { world } = this;
    if (chance < 0.3) this.#pause();
    else if (chance < 0.45) this.#kill();
    else if (chance < 0.6) {
      world.hit('store paused');
      const milliseconds = world.random.next() * (world.random.chance(0.3) ? 6_000 : 800);
      this.watcher.storePaused(world.now + milliseconds - Math.max(world.now, world.storePausedUntil));
      world.pauseStore(milliseconds);
    } else if (chance < 0.76) this.#weather();
    else if (chance < 0.84) this.#stepPodClock();
    else if (chance < 0.92) this.#revoke();
    else {
      this.#cutOff(
        this.#live().filter(() => world.random.chance(0.6)),
        2_000,
      );
    }
  }

  #addPod(): void {
    const { world } = this;
    const pod = new Pod(`p${this.#pods}`, world, this.watcher);
    this.#pods += 1;
    this.watcher.pods.set(pod.name, pod);
    const tasks = 1 + world.random.below(4);
    for (let task = 0; task < tasks; task += 1)
      startTask(this.workload, pod, world, world.now + world.random.next() * 500);
  }

  #live(): readonly Pod[] {
    return [...this.watcher.pods.values()].filter((pod) => !pod.isDead);
  }

  #pause(): void {
    const pods = this.#live();
    const pod = pods[this.world.random.below(pods.length)];
    if (pod === undefined) return;
    const milliseconds = this.world.random.next() * 5_000;
    if (this.world.random.chance(0.2)) pod.suspend(milliseconds);
    else {
      this.world.hit('pod paused');
      pod.pausedUntil = Math.max(pod.pausedUntil, this.world.now + milliseconds);
    }
    this.world.note(`${pod.name} stalls until ${pod.pausedUntil.toFixed(1)}`);
  }

  #kill(): void {
    const pods = this.#live();
    const pod = pods[this.world.random.below(pods.length)];
    if (pod === undefined || pods.length < 2) return;
    this.world.hit('pod killed');
    this.world.note(`${pod.name} dies`);
    pod.kill();
    this.world.at(this.world.now + this.world.random.next() * 2_000, () => {
      this.#addPod();
    });
  }

  #weather(): void {
    const { world } = this;
    if (world.weather === 'clocks') {
      world.hit('store clock stepped');
      // Forward within the drift margin of a lease, back as far as the fence memory reaches.
      world.stepStoreClock(world.random.chance(0.3) ? world.random.next() * 2 : -world.random.next() * 20_000);
    } else if (world.weather === 'flush') this.#loseStore();
    else if (world.weather === 'failover') this.#failOver();
  }

  #loseStore(): void {
    this.world.hit('store lost its data');
    this.world.loseStore();
    this.watcher.storeLost();
    this.#cutOff(this.#live(), 500);
  }

  /** To a replica that is a little behind, far behind, or new and empty; subscriptions end with the old primary. */
  #failOver(): void {
    const { world } = this;
    const { random } = world;
    world.hit('failover');
    const lostMs = random.chance(0.1) ? Infinity : random.next() * (random.chance(0.4) ? 4_000 : 300);
    const takesMs = 100 + random.next() * 3_000;
    world.failOver(lostMs, takesMs);
    this.watcher.storeLost();
    this.#cutOff(this.#live(), takesMs + 500);
  }

  #cutOff(pods: readonly Pod[], atMostMs: number): void {
    for (const pod of pods) {
      this.world.hit('subscription lost');
      pod.cutOff(this.world.random.next() * atMostMs);
    }
  }

  #stepPodClock(): void {
    const pods = this.#live();
    const pod = pods[this.world.random.below(pods.length)];
    if (pod === undefined) return;
    pod.stepWallClock((this.world.random.next() - 0.5) * 60_000);
  }

  #revoke(): void {
    const { world } = this;
    const key = world.random.pick(this.workload.keys);
    const mode = world.random.chance(0.5) ? 'drain' : 'now';
    world.hit(`revoked: ${mode}`);
    world.command(
      (store) => store.revoke({ key, token: undefined, mode }),
      () => {
        this.watcher.revokeRan(key, mode);
      },
    );
  }
}
