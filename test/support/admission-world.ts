import { sendWithinMs } from '../../src/admission/admission.rules.js';
import { BEAT_MS, LEASE_MS, type Notice, POLL_MS, type ScopeNews } from '../../src/admission/admission.store.js';
import { SeededRandom } from '../simulation/seeded.random.js';
import { type AdmissionBench, scopeOf } from './admission-bench.js';
import { VirtualTime } from './virtual-time.js';
import { drawTokens, WorldBooks } from './admission-books.js';
import {
  NO_FAULTS,
  podOf,
  type WorldCall,
  type WorldCaller,
  type WorldFaults,
  type WorldPlan,
  type WorldPod,
} from './admission-plan.js';

const THINK_MS = 20;
/** How late a call arrives where no guard says so. */
const LATEST_MS = 20;
const MICRO_USD_PER_TOKEN = 3;

/** Pods that admit calls to one scope in virtual time; every message and every call is as late as it may be. */
export class AdmissionWorld {
  readonly books = new WorldBooks();
  private readonly time: VirtualTime;
  private readonly random: SeededRandom;
  private readonly faults: WorldFaults;
  private readonly pods: readonly [WorldPod, ...WorldPod[]] = [podOf('p1'), podOf('p2'), podOf('p3')];
  private readonly scope;
  private readonly until: number;
  private ids = 0;

  constructor(
    private readonly bench: AdmissionBench,
    private readonly plan: WorldPlan,
  ) {
    this.time = new VirtualTime(bench.clock);
    this.random = new SeededRandom(plan.seed);
    this.faults = plan.faults ?? NO_FAULTS;
    this.scope = scopeOf(plan.limits, `world:${plan.seed}`);
    this.until = this.time.now + plan.forMs;
  }

  /** Until all calls are over and every lease has ended. */
  async run(): Promise<this> {
    for (const caller of this.plan.callers) {
      for (let count = 0; count < caller.calls; count += 1) this.#next(caller, this.#between(0, 100));
    }
    for (const pod of this.pods) {
      this.time.after(this.#between(0, BEAT_MS), () => this.#beat(pod));
      this.time.after(this.#between(0, POLL_MS), () => this.#poll(pod));
    }
    await this.time.run();
    return this;
  }

  state() {
    return this.bench.store.inspect(this.scope);
  }

  #between(least: number, most: number): number {
    return Math.floor(least + this.random.next() * (most - least));
  }

  #next(caller: WorldCaller, inMs: number): void {
    if (this.time.now + inMs < this.until) this.time.after(inMs, () => this.#acquire(caller));
  }

  async #acquire(caller: WorldCaller, deadline = this.time.now + this.#between(...caller.waitMs)): Promise<void> {
    const pod = this.random.pick(this.pods);
    this.ids += 1;
    const call: WorldCall = {
      ...{ id: `i${this.ids}`, pod, caller, deadline, state: 'waiting' },
      tokens: drawTokens(this.random, this.faults),
    };
    pod.calls.set(call.id, call);
    const command = {
      ...this.#of(pod),
      id: call.id,
      flow: caller.flow,
      weight: caller.weight,
      tokens: call.tokens.estimated,
      microUsd: MICRO_USD_PER_TOKEN * call.tokens.estimated,
      waitMs: Math.max(0, deadline - this.time.now),
      leaseMs: LEASE_MS,
    };
    const answer = await this.#twice(() => this.bench.store.acquire(command));
    this.books.count(answer.kind);
    await this.#heed(pod, answer);
    if (answer.kind === 'granted') this.#granted(call, answer.atMs);
    else if (answer.kind === 'waiting') this.#waits(call);
    else this.#over(call, 300);
  }

  #waits(call: WorldCall): void {
    const give = () => (call.state === 'waiting' ? this.#leave(call) : undefined);
    this.time.after(call.deadline - this.time.now + 20, give);
    if (this.random.chance(this.faults.left)) this.time.after(this.#between(0, call.deadline - this.time.now), give);
  }

  #granted(call: WorldCall, atMs: number): void {
    if (call.state !== 'waiting') return;
    call.state = 'granted';
    this.time.after(Math.max(0, atMs - this.time.now), () => this.#send(call, atMs));
  }

  #send(call: WorldCall, atMs: number): Promise<void> | undefined {
    if (call.state !== 'granted') return undefined;
    if (this.time.now > atMs + sendWithinMs(this.scope.rules)) {
      this.books.count('late');
      return this.#leave(call, () => {
        this.time.after(0, () => this.#acquire(call.caller, call.deadline));
      });
    }
    if (this.random.chance(this.faults.left)) return this.#leave(call);
    call.state = 'sent';
    const guardMs =
      this.plan.lateMs ?? Math.min(LATEST_MS, ...this.scope.rules.windows.map((window) => window.guardMs));
    const arrivedAt = this.time.now + this.random.next() * Math.max(0, atMs + guardMs - this.time.now);
    const [least, most] = call.caller.durationMs;
    const endsAt = arrivedAt + least * (most / least) ** this.random.next();
    const { life } = call.pod;
    // A process that dies meanwhile hangs up then; see #kill().
    this.time.after(endsAt - this.time.now, () => (call.pod.life === life ? this.#ended(call) : undefined));
    this.books.sent(call, arrivedAt);
    return undefined;
  }

  async #ended(call: WorldCall): Promise<void> {
    const { actual } = call.tokens;
    this.books.ended(call, this.time.now);
    this.books.billed += MICRO_USD_PER_TOKEN * actual;
    this.#over(call, THINK_MS);
    const command = { ...this.#of(call.pod), id: call.id, tokens: actual, microUsd: MICRO_USD_PER_TOKEN * actual };
    const answer = await this.bench.store.settle(command);
    if (answer.kind !== 'settled') throw new Error(`settling ${call.id} found it ${answer.kind}`);
    await this.#heed(call.pod, answer);
    if (!this.random.chance(this.faults.repeated)) return;
    const again = await this.bench.store.settle(command);
    if (again.kind !== 'gone' || again.bookings.length > 0) throw new Error(`${call.id} was settled twice`);
    await this.#heed(call.pod, again);
  }

  async #leave(call: WorldCall, then?: () => void): Promise<void> {
    this.#over(call, then === undefined ? THINK_MS : undefined);
    then?.();
    const command = { ...this.#of(call.pod), id: call.id };
    await this.#heed(call.pod, await this.#twice(() => this.bench.store.cancel(command)));
  }

  async #beat(pod: WorldPod): Promise<void> {
    if (this.time.now < this.until + 60_000) this.time.after(BEAT_MS, () => this.#beat(pod));
    if (this.random.chance(this.faults.killed)) this.#kill(pod);
    if (pod.calls.size > 0) await this.#ask(pod, [...pod.calls.keys()]);
  }

  async #poll(pod: WorldPod): Promise<void> {
    if (this.time.now < this.until + 60_000) this.time.after(POLL_MS, () => this.#poll(pod));
    const waiting = [...pod.calls.values()].filter(({ state }) => state === 'waiting');
    if (waiting.length > 0)
      await this.#ask(
        pod,
        waiting.map(({ id }) => id),
      );
  }

  async #ask(pod: WorldPod, ids: readonly string[]): Promise<void> {
    const answer = await this.bench.store.beat({ ...this.#of(pod), ids });
    await this.#heed(pod, answer);
    answer.places.forEach((place, index) => {
      const call = pod.calls.get(ids[index] ?? '');
      if (call === undefined) return;
      if (place.kind === 'granted') this.#granted(call, place.atMs);
      else if (place.kind === 'gone') this.#gone(call);
    });
  }

  #gone(call: WorldCall): void {
    if (call.state === 'sent') throw new Error(`the lease of ${call.id} ended in spite of its beats`);
    if (call.state !== 'waiting') return;
    this.#over(call, THINK_MS);
  }

  /** Its connections end with it, and with them its calls. */
  #kill(pod: WorldPod): void {
    pod.life += 1;
    for (const call of pod.calls.values()) {
      this.books.ended(call, this.time.now);
      this.#over(call, 1_000);
    }
  }

  /** @param nextInMs undefined: the caller does not go on by itself */
  #over(call: WorldCall, nextInMs?: number): void {
    call.state = 'over';
    call.pod.calls.delete(call.id);
    if (nextInMs !== undefined) this.#next(call.caller, nextInMs);
  }

  /** What an answer brings besides, and what it had others told. */
  async #heed(pod: WorldPod, news: ScopeNews): Promise<void> {
    const { life } = pod;
    this.#notice(pod, news.notices);
    if (news.pumpInMs !== undefined) {
      // One timer: the latest answer says when.
      const pumpAt = this.time.now + news.pumpInMs;
      pod.pumpAt = pumpAt;
      this.time.after(news.pumpInMs, () =>
        pod.life === life && pod.pumpAt === pumpAt ? this.#ask(pod, []) : undefined,
      );
    }
    for (const [name, { notices }] of await this.bench.heard()) {
      const told = this.pods.find((each) => each.name === name);
      if (told === undefined || this.random.chance(this.faults.lost)) continue;
      this.time.after(this.#between(0, 10), () => {
        this.#notice(told, notices);
      });
    }
    if (this.plan.limits.budgets !== undefined) await this.#audit();
  }

  #notice(pod: WorldPod, notices: readonly Notice[]): void {
    for (const notice of notices) {
      const call = pod.calls.get(notice.id);
      if (call === undefined) continue;
      if (notice.kind === 'granted') this.#granted(call, notice.atMs);
      else this.#gone(call);
    }
  }

  async #audit(): Promise<void> {
    const { budgets, reserved } = await this.state();
    this.books.mostSpent = Math.max(this.books.mostSpent, (budgets[0]?.spent ?? 0) + reserved.microUsd);
  }

  async #twice<Answer extends ScopeNews>(run: () => Promise<Answer>): Promise<Answer> {
    const first = await run();
    if (!this.random.chance(this.faults.repeated)) return first;
    const again = await run();
    return { ...again, notices: [...first.notices, ...again.notices] };
  }

  #of(pod: WorldPod) {
    return { scope: this.scope, process: pod.name, seen: true };
  }
}
