import type { Acquisition } from '../../src/lock/client/acquisition.js';
import type { ClientEnvironment, Hear, LockLine } from '../../src/lock/client/client.ports.js';
import type { LockClient } from '../../src/lock/client/lock.client.js';
import type { AcquireCommand, BeatCommand, LeaveCommand, LockMessage, LockStore } from '../../src/lock/lock.store.js';
import type { World } from './world.js';

/** One wish of a pod, as the watcher knows it: its id is the description that the store shows. */
export interface Wish {
  readonly id: string;
  readonly pod: Pod;
  readonly key: string;
  readonly weight: number;
  readonly capacity: number;
  readonly minHoldMs: number;
  readonly maxHoldMs: number;
  acquisition: Acquisition | undefined;
  /** When it was held first. */
  heldAt: number | undefined;
  /** When the pod was through with it. */
  overAt: number | undefined;
}

/** Who hears of every command when the store has run it, and of places when the client hears of them. */
export interface Witness {
  acquireRan(pod: Pod, command: AcquireCommand): void;
  placeTold(command: AcquireCommand, ticket: number): void;
  beatSent(command: BeatCommand): void;
  beatRan(pod: Pod, command: BeatCommand): void;
  leaveRan(command: LeaveCommand): void;
}

/** A process of the fleet: the product's client, with simulated clocks, timers and network. */
export class Pod {
  readonly client: LockClient;
  readonly environment: ClientEnvironment;
  readonly wishes = new Set<Wish>();
  isDead = false;
  pausedUntil = 0;
  /** Until then its clock and its timers may disagree. */
  unsteadyUntil = 0;
  #monotonicStep = 0;
  #wallStep = 0;
  #diedAt = 0;
  #deafUntil = 0;
  readonly #rate: number;
  readonly #clock: { now(): number };

  constructor(
    readonly name: string,
    private readonly world: World,
    private readonly watcher: Witness,
  ) {
    this.#rate = 1 + (world.random.next() - 0.5) * 0.006;
    this.#clock = new world.subject.SuspendAwareClock(
      () => world.now * this.#rate + this.#monotonicStep,
      () => world.now * this.#rate + this.#wallStep,
    );
    this.environment = {
      now: () => this.#clock.now(),
      random: world.random.next,
      after: (ms, run) => {
        const jitter = world.random.chance(0.5) ? 0 : world.random.next();
        const event = world.at(world.now + Math.max(0, ms) / this.#rate + jitter, run, name);
        return {
          cancel: () => {
            event.isCancelled = true;
          },
        };
      },
    };
    this.client = new world.subject.LockClient(name, this.environment, this.#line());
    world.store.subscribe(name, (message) => {
      this.#carry(message);
    });
  }

  /** Its subscription is gone for so long: what is sent or under way meanwhile never comes. */
  cutOff(milliseconds: number): void {
    this.#deafUntil = Math.max(this.#deafUntil, this.world.now + milliseconds);
    this.world.at(
      this.#deafUntil,
      () => {
        if (this.#isDeaf) return;
        this.world.hit('subscription resumed');
        this.client.askAnew();
      },
      this.name,
    );
  }

  /**
   * Sets the wall clock, as an operator does. The process has looked at it since its machine last stood still, and looks at it before
   * anything else happens: a suspension that is set back at the same moment is not seen, and docs/locks.md says so.
   */
  stepWallClock(milliseconds: number): void {
    if (this.pausedUntil > this.world.now) return;
    this.world.hit('pod clock stepped');
    this.#clock.now();
    this.#wallStep += milliseconds;
    this.unsteadyUntil = this.world.now + 15_000;
    this.#clock.now();
  }

  /** Its machine stands still, and so does the clock that counts from its start; the wall clock does not. */
  suspend(milliseconds: number): void {
    if (this.pausedUntil > this.world.now) return;
    this.world.hit('pod suspended');
    this.pausedUntil = this.world.now + milliseconds;
    this.unsteadyUntil = this.pausedUntil + 15_000;
    this.world.at(this.pausedUntil, () => {
      this.#monotonicStep -= milliseconds;
    });
  }

  /** So long that its last sign of life must be over, with all that may be on its way, and with what the gap rule forgives. */
  get isLongDead(): boolean {
    return this.isDead && this.world.now - Math.max(this.#diedAt, this.world.storePausedUntil) > 15_000;
  }

  kill(): void {
    this.isDead = true;
    this.#diedAt = this.world.now;
    this.world.store.unsubscribe(this.name);
  }

  get #isDeaf(): boolean {
    return this.world.now < this.#deafUntil;
  }

  #carry(message: LockMessage): void {
    const { world } = this;
    if (this.#isDeaf) {
      world.hit('message to nobody');
      return;
    }
    const copies = this.#copies();
    if (copies !== 1) world.hit(copies === 0 ? 'message lost' : 'message doubled');
    for (let copy = 0; copy < copies; copy += 1) {
      const isLate = world.hasFaults && world.isUnfair && world.random.chance(0.2);
      const delay = isLate ? world.random.next() * 7_000 : world.latency();
      world.at(
        world.now + delay,
        () => {
          if (this.#isDeaf) return;
          world.note(`${this.name} hears ${JSON.stringify(message)}`);
          this.client.receive(message);
        },
        this.name,
      );
    }
  }

  #copies(): number {
    if (this.#isLost(0.06)) return 0;
    return this.#isLost(0.06) ? 2 : 1;
  }

  #line(): LockLine {
    return {
      acquire: (command, hear) => {
        this.#ask(`acquire ${JSON.stringify(command)}`, (store) => store.acquire(command), {
          isAcquire: true,
          ran: ({ kind }) => {
            // A buried token is refused before the lock is looked at.
            if (kind !== 'buried') this.watcher.acquireRan(this, command);
          },
          hear: (outcome) => {
            if (outcome.isAnswered && outcome.answer.kind === 'queued')
              this.watcher.placeTold(command, outcome.answer.ticket);
            hear(outcome);
          },
        });
      },
      beat: (command, hear) => {
        this.watcher.beatSent(command);
        this.#ask(`beat ${JSON.stringify(command)}`, (store) => store.beat(command), {
          isAcquire: false,
          ran: () => {
            this.watcher.beatRan(this, command);
          },
          hear,
        });
      },
      leave: (command, hear) => {
        this.#ask(`leave ${JSON.stringify(command)}`, (store) => store.leave(command), {
          isAcquire: false,
          ran: () => {
            this.watcher.leaveRan(command);
          },
          hear,
        });
      },
    };
  }

  #ask<Answer>(
    what: string,
    run: (store: LockStore) => Promise<Answer>,
    call: { readonly isAcquire: boolean; readonly ran: (answer: Answer) => void; readonly hear: Hear<Answer> },
  ): void {
    const { world } = this;
    const silence = this.environment.after(1_000, () => {
      call.hear({ isAnswered: false, error: new Error('no answer') });
    });
    if (this.#isLost(0.04)) {
      world.hit('request lost');
      return;
    }
    world.at(world.now + world.latency(), () => {
      world.command(run, (answer) => {
        world.note(`${this.name} ${what} -> ${JSON.stringify(answer)}`);
        call.ran(answer);
        if (this.#isLost(world.isUnfair && call.isAcquire ? 0.35 : 0.04)) {
          world.hit('answer lost');
          return;
        }
        for (let copy = this.#isLost(0.05) ? 0 : 1; copy < 2; copy += 1) {
          world.at(
            world.now + world.latency(),
            () => {
              silence.cancel();
              call.hear({ isAnswered: true, answer });
            },
            this.name,
          );
        }
      });
    });
  }

  #isLost(probability: number): boolean {
    return this.world.hasFaults && this.world.isLossy && this.world.random.chance(probability);
  }
}
