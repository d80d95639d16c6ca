/** From rounds to figures: medians, and differences and ratios taken within a round before the median. */

const MEASURED = ['cpuMicros', 'requestsPerSecond', 'p50Ms', 'p99Ms', 'firstTokenP50Ms', 'firstTokenP99Ms'];

/** @returns {number | undefined} undefined for no samples */
export function median(samples) {
  const sorted = samples.filter((sample) => sample !== undefined).toSorted((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** A cell's figures per contestant: `{cpuMicros, …, addedP50Ms, cpuToBare, cpuToPortkey, errors}`. */
export function figuresOf({ rounds, ...cell }) {
  const contestants = Object.keys(rounds).map((name) => [name, summary(rounds, name)]);
  return { ...cell, contestants: Object.fromEntries(contestants), rounds };
}

function summary(rounds, name) {
  const own = rounds[name];
  const medians = MEASURED.map((key) => [key, median(own.map((round) => round[key]))]);
  return {
    ...Object.fromEntries(medians),
    addedP50Ms: paired(rounds, [name, 'direct'], 'p50Ms', minus),
    addedP99Ms: paired(rounds, [name, 'direct'], 'p99Ms', minus),
    addedFirstTokenMs: paired(rounds, [name, 'direct'], 'firstTokenP50Ms', minus),
    cpuToBare: paired(rounds, [name, 'bare'], 'cpuMicros', over),
    cpuToPortkey: paired(rounds, [name, 'portkey'], 'cpuMicros', over),
    errors: own.reduce((sum, round) => sum + round.errors, 0),
    faults: own.flatMap((round) => round.faults).slice(0, 3),
  };
}

function paired(rounds, [one, other], key, compare) {
  if (!rounds[other]) return undefined;
  return median(rounds[one].map((round, index) => compare(round[key], rounds[other][index][key])));
}

function minus(a, b) {
  return a === undefined || b === undefined ? undefined : a - b;
}

function over(a, b) {
  return a === undefined || b === undefined ? undefined : a / b;
}
