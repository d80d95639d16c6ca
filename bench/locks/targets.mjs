/** What this module must reach, judged on counts and on ratios within one run; the only absolute times are those of a contract. */

const OURS = 'coordinator';
const YARDSTICKS = new Set(['raw', 'bare', OURS]);
const BEST_PEER_EFFICIENCY = { '1 x 50': 1.15, '4 x 50': 1.5 };

/**
 * @typedef {object} Verdict
 * @property {string} target
 * @property {string} cell
 * @property {'at most' | 'at least'} bound
 * @property {number} limit
 * @property {number} [value] what was measured
 * @property {'pass' | 'MISS' | 'unclear'} verdict
 */

/** @returns {readonly Verdict[]} */
export function judge({ uncontended, contended, loops, loss, shutdown }) {
  const found = [
    ...uncontended.filter(isOurs).flatMap(judgeUncontended),
    ...contended.filter(isOurs).flatMap(judgeContended),
    ...loops
      .filter(isOurs)
      .map(({ processes, workers, entrants }) =>
        atLeast('Jain index', `${processes} x ${workers}`, { limit: 0.99, value: entrants[OURS].jain }),
      ),
    ...(loss && OURS in loss
      ? [atMost('told of a lost 2 s lease, s', 'frozen server', { limit: 2, value: inSeconds(loss[OURS]) })]
      : []),
    ...(shutdown && OURS in shutdown
      ? [atMost('free after SIGTERM, s', 'one waits', { limit: 1, value: inSeconds(shutdown[OURS]) })]
      : []),
  ];
  return found.map((one) => ({ ...one, verdict: verdict(one) }));
}

/** @param milliseconds null: never */
function inSeconds(milliseconds) {
  return milliseconds === null ? Infinity : milliseconds / 1000;
}

function isOurs({ entrants }) {
  return entrants[OURS] !== undefined;
}

function judgeUncontended({ inFlight, entrants }) {
  const { to, commands } = entrants[OURS];
  const cell = `uncontended, ${inFlight} at a time`;
  return [
    atMost('commands per section', cell, { limit: 2, value: commands }),
    inFlight === 1
      ? atMost('pair p50 / raw', cell, { limit: 1.25, value: to?.p50Ms })
      : atLeast('sections per second / raw', cell, { limit: 0.95, value: to?.perSecond }),
  ];
}

function judgeContended({ waiters, processes, entrants }) {
  const cell = `${processes} x ${waiters}`;
  const { to, ...ours } = entrants[OURS];
  const peers = Object.entries(entrants).filter(
    ([id, { efficiency }]) => !YARDSTICKS.has(id) && efficiency !== undefined,
  );
  const bestOf = (choose, key) =>
    peers.length === 0 ? undefined : choose(...peers.map(([, figures]) => figures[key]));
  const rows = [
    atMost('failures', cell, { limit: 0, value: ours.failures }),
    atMost('two holders at once', cell, { limit: 0, value: ours.overlaps }),
    atMost('commands per grant', cell, { limit: 2.2, value: ours.commands }),
    atLeast('Kendall tau', cell, { limit: 0.99, value: ours.kendallTau }),
    atLeast('efficiency / bare hand-off', cell, { limit: 0.95, value: to?.efficiency }),
    atMost('hand-off p50 / bare hand-off', cell, { limit: 1.25, value: to?.handOffP50Ms }),
    atMost('hand-off p99 / best peer', cell, {
      limit: 1 / 3,
      value: ours.handOffP99Ms / bestOf(Math.min, 'handOffP99Ms'),
    }),
  ];
  const limit = BEST_PEER_EFFICIENCY[cell];
  if (limit)
    rows.push(
      atLeast('efficiency / best peer', cell, { limit, value: ours.efficiency / bestOf(Math.max, 'efficiency') }),
    );
  return rows;
}

function atMost(target, cell, { limit, value }) {
  return { target, cell, bound: 'at most', limit, value };
}

function atLeast(target, cell, { limit, value }) {
  return { target, cell, bound: 'at least', limit, value };
}

function verdict({ bound, limit, value }) {
  if (value === undefined || Number.isNaN(value)) return 'unclear';
  return (bound === 'at most' ? value <= limit : value >= limit) ? 'pass' : 'MISS';
}
