/** The tables on the terminal, in Markdown. */
import { number, table } from '../markdown.mjs';

/** All tables of a run. */
export function markdown({ cells, residentMb, titles, verdicts, machine }) {
  const parts = [
    `${machine.node}, ${machine.cpus} x ${machine.cpu}, load ${machine.loadAverage.toFixed(1)} at the start`,
  ];
  for (const cell of cells) parts.push(cellTable(cell, titles));
  parts.push(`### Resident memory after the run\n\n${residentTable(residentMb, titles)}`);
  if (verdicts.length > 0) parts.push(`### Targets\n\n${verdictTable(verdicts)}`);
  return parts.join('\n\n');
}

function cellTable(cell, titles) {
  const isStream = Object.values(cell.contestants).some(({ firstTokenP50Ms }) => firstTokenP50Ms !== undefined);
  const columns = [
    ['CPU µs/request', 'cpuMicros', 0],
    ['x bare', 'cpuToBare', 2],
    ['x Portkey', 'cpuToPortkey', 3],
    ['req/s', 'requestsPerSecond', 0],
    ['p50 ms', 'p50Ms', 2],
    ['p99 ms', 'p99Ms', 2],
    ['added p50', 'addedP50Ms', 2],
    ['added p99', 'addedP99Ms', 2],
    ...(isStream
      ? [
          ['first token ms', 'firstTokenP50Ms', 2],
          ['added first token', 'addedFirstTokenMs', 2],
        ]
      : []),
    ['errors', 'errors', 0],
  ];
  const rows = Object.entries(cell.contestants).map(([name, figures]) => [
    titles[name],
    ...columns.map(([, key, digits]) => number(figures[key], digits)),
  ]);
  const heading = `### ${cell.title}, ${cell.connections} at a time (${cell.requests} requests a round)`;
  return `${heading}\n\n${table(['', ...columns.map(([title]) => title)], rows)}`;
}

function residentTable(residentMb, titles) {
  return table(
    ['', 'RSS MB'],
    Object.entries(residentMb).map(([name, megabytes]) => [titles[name], number(megabytes, 0)]),
  );
}

function verdictTable(verdicts) {
  const rows = verdicts.map(({ target, workload, connections, limit, value, verdict }) => [
    target,
    workload,
    number(connections, 0),
    String(limit),
    number(value, 2),
    verdict,
  ]);
  return table(['target', 'workload', 'at a time', 'at most', 'measured', ''], rows);
}
