/** What is made of interleaved rounds: ratios within a round, then the median of the rounds. */
import { median } from '../gateway/figures.mjs';
import { sum } from './numbers.mjs';

/**
 * @param rounds figures by entrant and round
 * @param yardstick whose figures the others are compared with, where it took part
 * @returns by entrant the medians, and under `to` the medians of the ratios
 */
export function summaries(rounds, yardstick) {
  return Object.fromEntries(
    Object.entries(rounds).map(([id, own]) => [
      id,
      {
        ...mediansOf(own),
        ...(rounds[yardstick] && { to: mediansOf(ratios(own, rounds[yardstick])) }),
        // A failure in any round counts.
        failures: sum(own.map(({ failures = 0 }) => failures)),
        unfinished: own.filter(({ reason }) => reason !== undefined).length,
      },
    ]),
  );
}

function ratios(own, yardstick) {
  return own.map((figures, round) => {
    const keys = Object.keys(figures).filter((key) => yardstick[round]?.[key] > 0 && figures[key] !== undefined);
    return Object.fromEntries(keys.map((key) => [key, figures[key] / yardstick[round][key]]));
  });
}

function mediansOf(rounds) {
  const keys = new Set(
    rounds.flatMap((figures) => Object.keys(figures).filter((key) => typeof figures[key] !== 'string')),
  );
  return Object.fromEntries(Array.from(keys, (key) => [key, median(rounds.map((figures) => figures[key]))]));
}
