/** What a fleet must reach. The only absolute times are those of the contract. */

/** Hash slots that a call has to do with: its model's; with everything on also its caller's, and the cache's for its question. */
const SLOTS = { limited: 1, everything: 3 };

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
  const [limited, everything] = ['limited', 'everything'].map((name) => calls.find((call) => call.name === name));
  const { addedP50Ms, cpuToBare } = everything;
  return [
    atMost('added p50, ms', 'everything on', { limit: 3, value: addedP50Ms }),
    atMost('CPU per request / bare proxy', 'everything on', { limit: 3, value: cpuToBare }),
    ...ofScripts("a model's limits", limited, SLOTS.limited),
    ...ofScripts('everything on', everything, SLOTS.everything),
    atMost('scripts per lock', 'alone', { limit: 2, value: Math.floor(lock.commands * 10) / 10 }),
  ];
}

/** A slot is asked before a call and told after it: two, unless they go with those of other calls. */
function ofScripts(cell, { scripts, scriptsAlone }, slots) {
  return [
    atMost('scripts per hash slot', `${cell}, together`, { limit: 1, value: scripts / slots }),
    atMost('scripts per hash slot', `${cell}, one at a time`, { limit: 1, value: scriptsAlone / slots }),
  ];
}

function atMost(target, cell, { limit, value }) {
  return { target, cell, bound: 'at most', limit, value };
}

function verdict({ limit, value }) {
  if (value === undefined || Number.isNaN(value)) return 'unclear';
  return value <= limit ? 'pass' : 'MISS';
}
