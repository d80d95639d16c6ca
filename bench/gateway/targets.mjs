/** What the coordinator must reach, judged on the ratios of one run; nothing here is an absolute time. */

const CPU_TO_BARE = { 'json-1k': 2.0, 'json-1k-slow': 2.0, 'json-20k': 1.6, 'stream-100': 1.2 };
const CPU_TO_PORTKEY = 0.25;
const FIRST_TOKEN_TO_BARE = 1.3;
/** Beyond these the first token waits in the load's own queue, so its time says how busy the machine is. */
const UNSATURATED_CONNECTIONS = 8;

/**
 * @typedef {object} Verdict
 * @property {string} target
 * @property {string} workload
 * @property {number} [connections]
 * @property {number} limit
 * @property {number} [value] what was measured
 * @property {number} [bare] what the bare proxy, the limit of a gateway in Node, has in the same place
 * @property {'pass' | 'MISS' | 'out of reach' | 'unclear'} verdict out of reach: the bare proxy misses it too
 */

/** @returns {readonly Verdict[]} */
export function judge(cells) {
  const judged = cells.filter(({ contestants }) => contestants.coordinator);
  if (judged.length === 0) return [];
  const errors = judged.reduce((sum, { contestants }) => sum + contestants.coordinator.errors, 0);
  const answers = { target: 'wrong or missing answers', workload: 'all', limit: 0, value: errors };
  const found = [...judged.flatMap(measuredIn), answers];
  return found.map((one) => ({ ...one, verdict: verdict(one) }));
}

function measuredIn({ workload, connections, contestants }) {
  const { coordinator, bare, portkey } = contestants;
  const place = { workload, connections };
  const rows = [
    { target: 'CPU per request / bare proxy', ...place, limit: CPU_TO_BARE[workload], value: coordinator.cpuToBare },
  ];
  if (portkey) {
    const [value, limitsValue] = [coordinator.cpuToPortkey, bare.cpuToPortkey];
    rows.push({ target: 'CPU per request / Portkey', ...place, limit: CPU_TO_PORTKEY, value, bare: limitsValue });
  }
  if (coordinator.firstTokenP50Ms !== undefined && connections <= UNSATURATED_CONNECTIONS) {
    const value = bare.addedFirstTokenMs > 0 ? coordinator.addedFirstTokenMs / bare.addedFirstTokenMs : undefined;
    rows.push({ target: 'added time to first token / bare proxy', ...place, limit: FIRST_TOKEN_TO_BARE, value });
  }
  return rows;
}

function verdict({ value, limit, bare }) {
  if (value === undefined) return 'unclear';
  if (value <= limit) return 'pass';
  return bare > limit ? 'out of reach' : 'MISS';
}
