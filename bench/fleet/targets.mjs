/** What a fleet must reach. The only absolute times are those of the contract. */

/** Caller's limits, budget and a model's limits are three hash slots, each asked before the call and told after it. */
const SLOTS = 3;
/** Look-up and storing of the answer, and the ledger's entry, which many calls share. */
const REUSE_SCRIPTS = 4;

/**
 * @typedef {object} Verdict
 * @property {string} target
 * @property {string} cell
 * @property {'at most' | 'at least'} bound
 * @property {number} limit
 * @property {number} [value]
 * @property {'pass' | 'MISS' | 'unclear'} verdict
 */

/** @returns {readonly Verdict[]} */
export function judge({ rushes, overhead }) {
  const found = [
    ...rushes.filter(({ mode }) => mode === 'coordinated').flatMap(ofRush),
    ...(overhead ? ofCalls(overhead) : []),
  ];
  return found.map((one) => ({ ...one, verdict: verdict(one) }));
}

function ofRush({ size, pods, failed, refused, most, limit }) {
  const cell = `${size} at once, ${pods} pod(s)`;
  return [
    atMost('upstream 429s', cell, { limit: 0, value: refused }),
    atMost('most in any window', cell, { limit, value: most }),
    atMost('failed', cell, { limit: 0, value: failed }),
  ];
}

function ofCalls({ calls, lock }) {
  const { addedP50Ms, cpuToBare, scripts } = calls.find(({ name }) => name === 'everything');
  const limited = calls.find(({ name }) => name === 'limited');
  return [
    atMost('added p50, ms', 'everything on', { limit: 3, value: addedP50Ms }),
    atMost('CPU per request / bare proxy', 'everything on', { limit: 3, value: cpuToBare }),
    atMost('scripts per call', "a model's limits", { limit: 2.2 + 1, value: limited.scripts }),
    atMost('scripts per call', 'everything on', { limit: 2 * SLOTS + REUSE_SCRIPTS, value: scripts }),
    atMost('scripts per lock', 'alone', { limit: 2, value: Math.floor(lock.commands * 10) / 10 }),
  ];
}

function atMost(target, cell, { limit, value }) {
  return { target, cell, bound: 'at most', limit, value };
}

function verdict({ limit, value }) {
  if (value === undefined || Number.isNaN(value)) return 'unclear';
  return value <= limit ? 'pass' : 'MISS';
}
