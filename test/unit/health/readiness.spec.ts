import { describe, expect, it } from '@jest/globals';
import { phaseReadiness, storeReadiness } from '../../../src/health/readiness.js';

describe('phaseReadiness()', () => {
  it.each([
    ['booting', 'down'],
    ['serving', 'up'],
    ['draining', 'down'],
  ] as const)('while %s it is %s', (phase, status) => {
    expect(phaseReadiness(phase)).toEqual({ process: { status, phase } });
  });
});

describe('storeReadiness()', () => {
  it.each([
    ['refuse', 0, 'up'],
    ['refuse', 1, 'up'],
    ['refuse', 5_000, 'up'],
    ['refuse', 5_001, 'down'],
    ['degrade', 0, 'up'],
    ['degrade', 3_600_000, 'up'],
  ] as const)('with policy %s and %i ms of silence it is %s', (policy, downForMs, status) => {
    expect(storeReadiness({ kind: 'redis', policy, downForMs })['store']?.status).toBe(status);
  });

  it('says what somebody has to change', () => {
    const state = { kind: 'redis', policy: 'refuse', downForMs: 6_000, reason: 'wrong_database' } as const;
    expect(storeReadiness(state)).toEqual({ store: { status: 'down', note: 'not answering', ...state } });
  });

  it('says that memory is for one replica', () => {
    expect(storeReadiness({ kind: 'memory' })).toEqual({
      store: { status: 'up', kind: 'memory', note: 'single replica only' },
    });
  });
});
