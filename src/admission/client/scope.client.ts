import { BriefMap, StoreError } from '../../store/index.js';
import { sendWithinMs } from '../admission.rules.js';
import { type AcquireAnswer, BEAT_MS, type Place, POLL_MS, type Scope, type ScopeNews } from '../admission.store.js';
import { Claim, type ClaimRequest, Displaced, type ToldRoom } from './claim.js';
import { Farewells } from './farewells.js';
import type { Ground } from './ground.js';
import { latenessOf, type RefusalScene, refusalOf } from './refusal.js';
import { ScopeBeat } from './scope.beat.js';
import { ScopeLine, type Spending } from './scope.line.js';
import { Turns } from './turns.js';

/** The store's own word that a wait is over comes first, ms. */
const SLACK_MS = 50;

/** What this process wants and has of one scope in one store. */
export class ScopeClient {
  readonly #claims = new BriefMap<string, Claim>();
  readonly #turns: Turns;
  readonly #line: ScopeLine;
  readonly #farewells: Farewells;
  readonly #beat: ScopeBeat;
  #waiting = 0;
  #told: ToldRoom | undefined;

  constructor(
    readonly scope: Scope,
    readonly ground: Ground,
  ) {
    const { environment } = ground;
    this.#turns = new Turns(environment, {
      begun: () => {
        this.#waiting -= 1;
      },
      overdue: (claim) => {
        claim.onExpiry();
        void this.settle(claim, claim.request);
      },
    });
    this.#line = new ScopeLine(scope, ground, (news, sentAt) => {
      this.#hear(news, sentAt);
    });
    this.#farewells = new Farewells(environment);
    this.#beat = new ScopeBeat(environment, {
      claims: () => this.#claims.values(),
      beat: (claims) => this.#beatFor(claims),
    });
  }

  /** How many ask or wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** With the answer to whoever asked last; undefined: nobody has. */
  get told(): ToldRoom | undefined {
    return this.#told;
  }

  /** Says what needs no answer. @returns whether there was one: the watch over the store knows. Never rejects */
  async tell(say: (line: ScopeLine) => Promise<unknown>): Promise<boolean> {
    try {
      await say(this.#line);
      return true;
    } catch {
      return false;
    }
  }

  /** Nothing is open, and nobody relies on it. */
  get isIdle(): boolean {
    return this.#claims.size === 0 && this.#farewells.size === 0 && !this.#beat.hasPump;
  }

  /** Asks for a reservation. @param until the end of its wait, by the local clock */
  claim(id: string, request: ClaimRequest, until: number): Claim {
    const claim = new Claim(id, request, this.ground.environment.now(), until);
    this.#claims.set(id, claim);
    this.#waiting += 1;
    this.#line.acquire(claim).then(
      (answer) => {
        this.#answered(claim, answer);
      },
      (error: unknown) => {
        const failure = new Displaced('the store did not answer', { cause: error });
        if (error instanceof StoreError && !error.mayHaveRun) this.#end(claim, failure);
        else this.giveUp(claim, failure);
      },
    );
    return claim;
  }

  /** Ends a claim that is not used yet with this error, without a trace in the store. */
  giveUp(claim: Claim, error: unknown): void {
    if (claim.state === 'over') return;
    this.#end(claim, error);
    void this.#cancel(claim);
  }

  /** Ends every wait. */
  turnAway(error: () => Error): void {
    for (const claim of [...this.#claims.values()]) if (!claim.isBegun) this.giveUp(claim, error());
  }

  /** Books what the call took. Never rejects; resolves when the store has heard, or was silent: it is told again. */
  async settle(claim: Claim, spending: Spending): Promise<void> {
    if (claim.state === 'over') return;
    this.#close(claim);
    claim.onEnd?.(spending.tokens);
    await this.#farewells.say(claim, () => this.#line.settle(claim.id, spending));
  }

  /** Undoes a grant whose call was never sent. As settle(). */
  async cancel(claim: Claim): Promise<void> {
    if (claim.state === 'over') return;
    this.#close(claim);
    claim.onEnd?.();
    await this.#cancel(claim);
  }

  /** Whether a call that is sent now still counts in the window that it was let in for. */
  isInTime(claim: Claim): boolean {
    return this.#turns.ageMs(claim) <= sendWithinMs(this.scope.rules);
  }

  /** Messages may have been lost, or the store was away. */
  resume(): void {
    this.#farewells.hasten();
    this.#beat.askAll();
  }

  /** Takes what the store tells this process, in any order, late, twice or never. */
  receive({ nowMs, notices }: Pick<ScopeNews, 'nowMs' | 'notices'>, sentAt?: number): void {
    this.#turns.read(nowMs, sentAt);
    for (const notice of notices) {
      const claim = this.#claims.get(notice.id);
      if (claim === undefined) continue;
      if (notice.kind === 'granted') this.#grant(claim, notice.atMs);
      else if (claim.state === 'waiting') this.#lapse(claim);
    }
  }

  /** Resolves once the store has heard how everything ended. */
  quiet(): Promise<void> {
    return this.#farewells.empty();
  }

  /** Stops every timer; what the store still has ends with its lease. */
  stop(): void {
    for (const claim of [...this.#claims.values()]) this.#close(claim);
    this.#farewells.stop();
    this.#beat.stop();
  }

  #hear(news: ScopeNews, sentAt: number): void {
    this.ground.heard(this.scope, news);
    this.#beat.pumpIn(news.pumpInMs);
    this.receive(news, sentAt);
  }

  #answered(claim: Claim, answer: AcquireAnswer): void {
    const usage = answer.kind === 'cancelled' ? [] : answer.usage;
    this.#told = { at: this.ground.environment.now(), wasLetIn: answer.kind === 'granted', usage };
    if (claim.state !== 'asking') return;
    switch (answer.kind) {
      case 'granted':
        claim.usage = answer.usage;
        this.#grant(claim, answer.atMs);
        break;
      case 'waiting':
        this.#wait(claim, answer);
        break;
      case 'cancelled':
        this.#end(claim, new Displaced('it was cancelled before it arrived'));
        break;
      default:
        this.#end(claim, refusalOf(claim, answer, this.#scene));
    }
  }

  #wait(claim: Claim, { rule, inMs, usage }: Extract<AcquireAnswer, { kind: 'waiting' }>): void {
    const { environment } = this.ground;
    const now = environment.now();
    claim.state = 'waiting';
    claim.obstacle = { rule, inMs, toldAt: now, usage };
    claim.timer = environment.after(claim.until + SLACK_MS - now, () => {
      this.giveUp(claim, latenessOf(claim, this.#scene));
    });
    this.#beat.arm(POLL_MS);
  }

  /** Whoever waits for it goes on when its time has come. */
  #grant(claim: Claim, atMs: number): void {
    if (claim.state !== 'asking' && claim.state !== 'waiting') return;
    claim.state = 'granted';
    claim.atMs = atMs;
    claim.timer?.cancel();
    if (!claim.request.isStrict) this.#beat.arm(BEAT_MS);
    this.#turns.await(claim);
  }

  /** @returns whether it was answered */
  #beatFor(claims: readonly Claim[]): Promise<boolean> {
    const sentAt = this.ground.environment.now();
    return this.tell(async (line) => {
      const { places } = await line.beat(claims.map(({ id }) => id));
      for (const [index, claim] of claims.entries()) this.#placed(claim, places[index], sentAt);
    });
  }

  #placed(claim: Claim, place: Place | undefined, sentAt: number): void {
    if (place === undefined || claim.state === 'over') return;
    if (place.kind !== 'gone') claim.aliveAt = sentAt;
    else if (claim.state === 'granted') claim.isGone = true;
    if (claim.state !== 'waiting') return;
    // There is no more room than there was.
    if (place.kind === 'waiting' && this.#told !== undefined) this.#told = { ...this.#told, at: sentAt };
    if (place.kind === 'granted') this.#grant(claim, place.atMs);
    else if (place.kind === 'gone') this.#lapse(claim);
  }

  /** The store has it no longer: its wait is over, or its state was lost. */
  #lapse(claim: Claim): void {
    const isLate = this.ground.environment.now() >= claim.until - SLACK_MS;
    this.#end(claim, isLate ? latenessOf(claim, this.#scene) : new Displaced('the store lost its place'));
  }

  #end(claim: Claim, error: unknown): void {
    if (claim.state === 'over') return;
    this.#close(claim);
    claim.fail(error);
  }

  #close(claim: Claim): void {
    claim.state = 'over';
    claim.timer?.cancel();
    this.#claims.delete(claim.id);
    if (!claim.isBegun) this.#waiting -= 1;
    if (this.#claims.size === 0) this.#beat.rest();
  }

  #cancel(claim: Claim): Promise<void> {
    return this.#farewells.say(claim, () => this.#line.cancel(claim.id));
  }

  get #scene(): RefusalScene {
    return { scope: this.scope, isLocal: this.ground.isLocal, now: this.ground.environment.now() };
  }
}
