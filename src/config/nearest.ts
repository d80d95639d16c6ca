import { distance } from 'fastest-levenshtein';

/**
 * The candidate that `name` was probably meant to be: one that begins with it, or the one at most `most` letters (by default half of its own) away;
 * undefined when there is none. Case, underscores and the like do not count.
 */
export function nearest(name: string, candidates: Iterable<string>, most?: number): string | undefined {
  const letters = lettersOf(name.slice(0, 100));
  let best: string | undefined;
  let bestDistance = (most ?? Math.max(2, Math.floor(letters.length / 2))) + 1;
  for (const candidate of candidates) {
    const away = awayFrom(letters, lettersOf(candidate));
    if (away < bestDistance) [best, bestDistance] = [candidate, away];
  }
  return best;
}

/** What was lengthened by a word is nearer than what has another word in the same place. */
function awayFrom(letters: string, candidate: string): number {
  if (letters.length > 2 && candidate.startsWith(letters)) return 0;
  return distance(letters, candidate) / (letters.startsWith(candidate) ? 2 : 1);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
