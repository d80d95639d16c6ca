import type { Tier } from '../../../config/index.js';
import type { FleetObserver } from '../fleet.observer.js';
import { NO_NEED } from '../quota.need.js';
import { wholeOf } from '../topics/fields.js';
import {
  type KeyFault,
  type Parking,
  type ParkingChange,
  type ParkingReason,
  parkingTopic,
} from '../topics/parking.topic.js';
import { type KeyWorth, type UsageChange, type UsageUnit, usageTopic } from '../topics/usage.topic.js';
import { type LinePorts, TopicLine } from '../view/topic.line.js';

/** Why a key is out, and for how long yet. */
export interface ParkingCard {
  readonly reason: KeyFault;
  /** It was refused for a call: a check that passes is no proof that the next one will not be. */
  readonly isByCall?: true;
  readonly leftMs: number;
}

/** What a key is worth. */
export interface KeyCard {
  readonly tier: Tier;
  readonly unit: UsageUnit;
  /** In its unit, less what was spent since the last check; undefined: not told. */
  readonly remaining?: number;
  /** The last check failed, or there was none that succeeded. */
  readonly isStale: boolean;
}

/** The answer of a usage check. */
export interface UsageReport {
  readonly tier: Tier;
  readonly remaining?: number;
  /** Default: requests. */
  readonly unit?: UsageUnit;
}

/** What a call cost a key. */
export interface Spending {
  readonly requests?: number;
  readonly tokens?: number;
  readonly costUsd?: number;
}

/** The longest that a key is out by one word, ms. */
const LONGEST_PARKING_MS = 86_400_000;
/** How long a key is out that was refused for a call, ms: at first, and at most, where it doubles. */
const DENIED_MS = { first: 60_000, longest: 900_000 } as const;
const MICROS = 1_000_000;
/** A key is nearly used up when this part of the most it ever had is left, or one unit (a cent of money). */
const NEARLY = 0.01;

/** The keys: which are out, and what the others are worth. */
export class KeyBook {
  readonly parking: TopicLine<Parking, ParkingChange>;
  readonly usage: TopicLine<KeyWorth, UsageChange>;

  /** Of which the observer was told that they are out. */
  readonly #announced = new Set<string>();

  constructor(
    keys: readonly string[],
    private readonly ports: LinePorts,
    private readonly observer: FleetObserver,
  ) {
    this.parking = new TopicLine(parkingTopic, keys, ports, (key, before, after) => {
      if (!parkingTopic.isNews(before, after)) return;
      void this.parking.flush();
      this.#announce(key, after);
    });
    this.usage = new TopicLine(usageTopic, keys, ports);
  }

  /** To be called every second while there is traffic. */
  beat(): void {
    for (const key of this.#announced) {
      if (this.#left(this.parking.peek(key)) === 0) this.#announce(key, undefined);
    }
  }

  /** Takes a key out, for all pods, until it is unparked or the time is over. At most a day. */
  park(key: string, reason: KeyFault, forMs: number): void {
    this.#park(key, reason, forMs);
  }

  /**
   * A call was refused because of the key: it is out for a minute whatever a check says, and for twice as long as the last time where that
   * ended less than a minute ago, at most 15 minutes.
   *
   * @returns false where it was out already: what was under way then says nothing new
   */
  deny(key: string): boolean {
    const last = this.parking.bodyOf(key);
    if (last !== undefined && last.reason !== 'quota' && this.#left(last) > 0) return false;
    const lastMs = last?.reason === 'denied' ? last.until - last.saidAt : 0;
    this.#park(key, 'denied', Math.min(Math.max(DENIED_MS.first, 2 * lastMs), DENIED_MS.longest));
    return true;
  }

  /** A check passed: the key is good. */
  unpark(key: string): void {
    this.parking.insist(key, { reason: 'refused', forMs: 0 });
    void this.parking.flush();
  }

  /** Undefined: it may be used. */
  parkingOf(key: string): ParkingCard | undefined {
    const parking = this.parking.bodyOf(key);
    const leftMs = this.#left(parking);
    if (parking === undefined || leftMs === 0) return undefined;
    return { reason: faultOf(parking), leftMs, ...(parking.reason === 'denied' && { isByCall: true }) };
  }

  /** What a usage check said. */
  checked(key: string, { tier, remaining, unit = 'requests' }: UsageReport): void {
    const isTold = remaining !== undefined && Number.isFinite(remaining);
    this.usage.insist(key, { kind: 'checked', tier, unit, left: isTold ? inWhole(unit, remaining) : -1 });
  }

  /** A usage check was not answered: the last word is stale; without one, it is taken for a free key with 1,000 requests left. */
  unreachable(key: string): void {
    this.usage.insist(key, { kind: 'unreachable' });
  }

  /** There is so much less left of the key until the next check. */
  spent(key: string, { requests = 0, tokens = 0, costUsd = 0 }: Spending): void {
    const unit = this.usage.bodyOf(key)?.unit;
    if (unit === undefined) return;
    const amount = { requests, tokens, usd: costUsd }[unit];
    this.usage.note(key, { kind: 'spent', unit, amount: inWhole(unit, amount) });
  }

  /** Undefined: nobody has asked, and the key is unrestricted. */
  worthOf(key: string): KeyCard | undefined {
    const worth = this.usage.bodyOf(key);
    if (worth === undefined) return undefined;
    const { tier, unit, left, isStale } = worth;
    return { tier, unit, isStale, ...(left >= 0 && { remaining: unit === 'usd' ? left / MICROS : left }) };
  }

  /** How long ago a usage check last ended, on whatever pod, answered or not, ms; undefined: not yet. */
  checkedAgoMs(key: string): number | undefined {
    const worth = this.usage.bodyOf(key);
    return worth && Math.max(0, this.ports.clock.now - worth.checkedAt);
  }

  /** What is left of the most it ever had, 0 to 1; 1 where nothing is known. */
  shareLeft(key: string): number {
    const worth = this.usage.bodyOf(key);
    return worth === undefined || worth.left < 0 || worth.most <= 0 ? 1 : Math.min(1, worth.left / worth.most);
  }

  /** So little is left that the next calls would meet the end of it. */
  isNearlyUsed(key: string, { requests, promptTokens, outputTokens, costUsd } = NO_NEED): boolean {
    const worth = this.usage.bodyOf(key);
    if (worth === undefined || worth.left < 0) return false;
    const least = worth.unit === 'usd' ? MICROS / 100 : 1;
    const needed = { requests, tokens: promptTokens + outputTokens, usd: costUsd }[worth.unit];
    return worth.left <= Math.max(least, worth.most * NEARLY) || worth.left < inWhole(worth.unit, needed);
  }

  #park(key: string, reason: ParkingReason, forMs: number): void {
    this.parking.insist(key, { reason, forMs: Math.min(Math.max(1, wholeOf(forMs)), LONGEST_PARKING_MS) });
    void this.parking.flush();
  }

  #announce(key: string, parking: Parking | undefined): void {
    const leftMs = this.#left(parking);
    if (parking !== undefined && leftMs > 0) {
      this.#announced.add(key);
      this.observer.parked(key, { reason: faultOf(parking), forMs: leftMs });
    } else if (this.#announced.delete(key)) {
      this.observer.unparked(key);
    }
  }

  #left(parking: Parking | undefined): number {
    return parking === undefined ? 0 : Math.max(0, parking.until - this.ports.clock.now);
  }
}

function faultOf({ reason }: Parking): KeyFault {
  return reason === 'quota' ? 'quota' : 'refused';
}

function inWhole(unit: UsageUnit, amount: number): number {
  return wholeOf(unit === 'usd' ? amount * MICROS : amount);
}
