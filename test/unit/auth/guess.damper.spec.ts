import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  FORGET_ONE_MS,
  GuessDamper,
  MOST_CLIENTS,
  PROVEN_MS,
  TOLERATED_GUESSES,
} from '../../../src/auth/guess.damper.js';

const CLIENT = '192.0.2.1';

describe('GuessDamper', () => {
  let now: number;
  let damper: GuessDamper;
  beforeEach(() => {
    now = 1_000;
    damper = new GuessDamper(() => now);
  });

  const miss = (times: number, client = CLIENT): boolean[] =>
    Array.from({ length: times }, () => damper.missed(client));

  it('damps a client once it has guessed too often, and says so once', () => {
    expect(miss(TOLERATED_GUESSES - 1)).not.toContain(true);
    expect(damper.waitOf(CLIENT)).toBe(0);
    expect(miss(5)).toEqual([true, false, false, false, false]);
    expect(damper.waitOf(CLIENT)).toBe(FORGET_ONE_MS);
  });

  it('lets it guess again at the pace of forgetting, however long it goes on', () => {
    miss(TOLERATED_GUESSES);
    let looked = 0;
    for (let step = 0; step < 1_000; step += 1) {
      now += FORGET_ONE_MS / 10;
      if (damper.waitOf(CLIENT) > 0) continue;
      looked += 1;
      expect(damper.missed(CLIENT)).toBe(false);
    }
    expect(looked).toBeGreaterThanOrEqual(90);
    expect(looked).toBeLessThanOrEqual(100);
  });

  it('forgets all of it in time, and then says it anew', () => {
    miss(TOLERATED_GUESSES);
    now += TOLERATED_GUESSES * FORGET_ONE_MS;
    expect(damper.waitOf(CLIENT)).toBe(0);
    expect(miss(TOLERATED_GUESSES).filter(Boolean)).toEqual([true]);
  });

  it('leaves other clients alone', () => {
    miss(1_000);
    expect(damper.waitOf('192.0.2.2')).toBe(0);
  });

  it('remembers for a while which keys a client has used', () => {
    damper.used(CLIENT, 7);
    expect([damper.isProven(CLIENT, 7), damper.isProven(CLIENT, 8), damper.isProven('192.0.2.2', 7)]).toEqual([
      true,
      false,
      false,
    ]);
    now += PROVEN_MS - 1;
    expect(damper.isProven(CLIENT, 7)).toBe(true);
    damper.used(CLIENT, 7);
    now += PROVEN_MS - 1;
    expect(damper.isProven(CLIENT, 7)).toBe(true);
    now += 1;
    expect(damper.isProven(CLIENT, 7)).toBe(false);
  });

  it('remembers a bounded number of clients, those that it has heard of last', () => {
    for (let client = 0; client < MOST_CLIENTS; client += 1) damper.used(String(client), 1);
    miss(TOLERATED_GUESSES, '0');
    for (let client = 0; client < 100; client += 1) damper.missed(`new-${String(client)}`);
    expect(damper.size).toBe(MOST_CLIENTS);
    expect(damper.waitOf('0')).toBeGreaterThan(0);
    expect(damper.isProven('1', 1)).toBe(false);
    expect(damper.isProven(String(MOST_CLIENTS - 1), 1)).toBe(true);
  });
});
