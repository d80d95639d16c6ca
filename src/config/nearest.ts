import { distance } from 'fastest-levenshtein';

/** The candidate that `name` was probably meant to be: at most `most` letters away, case apart; undefined when none is. */
export function nearest(name: string, candidates: Iterable<string>, most: number): string | undefined {
  let best: string | undefined;
  let bestDistance = most + 1;
  for (const candidate of candidates) {
    const letters = distance(name.toLowerCase().slice(0, 100), candidate.toLowerCase());
    if (letters < bestDistance) [best, bestDistance] = [candidate, letters];
  }
  return best;
}
