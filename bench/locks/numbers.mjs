/** The arithmetic of the figures. */

/** Milliseconds of the monotonic clock, the same in all processes of the machine. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @returns {number | undefined} undefined for no samples */
export function percentile(samples, part) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

export function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Kendall's rank correlation of a sequence with its sorted self: 1 in order, 0 by chance, -1 reversed. */
export function kendallTau(sequence) {
  let agreement = 0;
  for (let i = 0; i < sequence.length; i += 1) {
    for (let j = i + 1; j < sequence.length; j += 1) agreement += Math.sign(sequence[j] - sequence[i]);
  }
  const pairs = (sequence.length * (sequence.length - 1)) / 2;
  return pairs === 0 ? undefined : agreement / pairs;
}

/** Jain's index of fairness: 1 where all have the same, 1/n where one has it all. */
export function jainIndex(shares) {
  const squares = sum(shares.map((share) => share * share));
  return squares === 0 ? undefined : sum(shares) ** 2 / (shares.length * squares);
}
