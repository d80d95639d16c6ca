import type { ClientEnvironment } from './client.environment.js';
import { SuspendAwareClock } from './suspend-aware.clock.js';

/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2_147_483_647;

/** The real clock, timers and chance. A timer that is cut short is for its owner to check against the clock. */
export function nodeEnvironment(): ClientEnvironment {
  const clock = new SuspendAwareClock();
  return {
    now: () => clock.now(),
    after(ms, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS));
      return {
        cancel: () => {
          clearTimeout(timer);
        },
      };
    },
    random: () => Math.random(),
  };
}
