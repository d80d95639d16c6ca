/** What the coordinator must reach, judged on the ratios of one run; nothing here is an absolute time. */

const CPU_TO_BARE = { 'json-1k': 2.0, 'json-1k-slow': 2.0, 'json-20k': 1.6, 'stream-100': 1.2 };
const CPU_TO_PORTKEY = 0.25;
const FIRST_TOKEN_TO_BARE = 1.3;
/** Beyond these the first token waits in the load's own queue, so its time says how busy the machine is. */
const UNSATURATED_CONNECTIONS = 8;

/** @returns {{target: string, workload: string, connections?: number, limit: number, value?: number, verdict: string}[]} */
export function judge(cells) {
  const judged = cells.filter(({ contestants }) => contestants.coordinator);
  if (judged.length === 0) return [];
  const errors = judged.reduce((sum, { contestants }) => sum + contestants.coordinator.errors, 0);
  const answers = {
    target: 'wrong or missing answers',
    workload: 'all',
    limit: 0,
    value: errors,
    verdict: verdict(errors, 0),
  };
  return [...judged.flatMap(judgeCell), answers];
}

function judgeCell({ workload, connections, contestants }) {
  const { coordinator, bare, portkey } = contestants;
  const row = (target, limit, value) => ({
    target,
    workload,
    connections,
    limit,
    value,
    verdict: verdict(value, limit),
  });
  const rows = [row('CPU per request / bare proxy', CPU_TO_BARE[workload], coordinator.cpuToBare)];
  if (portkey) rows.push(row('CPU per request / Portkey', CPU_TO_PORTKEY, coordinator.cpuToPortkey));
  if (coordinator.firstTokenP50Ms !== undefined && connections <= UNSATURATED_CONNECTIONS) {
    const ratio = bare.addedFirstTokenMs > 0 ? coordinator.addedFirstTokenMs / bare.addedFirstTokenMs : undefined;
    rows.push(row('added time to first token / bare proxy', FIRST_TOKEN_TO_BARE, ratio));
  }
  return rows;
}

function verdict(value, limit) {
  if (value === undefined) return 'unclear';
  return value <= limit ? 'pass' : 'MISS';
}
