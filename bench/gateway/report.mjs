/** The tables on the terminal, in Markdown, and the file for `--json`. */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** Where, and with which versions, a run was made. */
export function surroundings() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model,
    cpus: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    loadAverage: loadavg()[0],
    versions: {
      coordinator: versionIn('../../package.json'),
      '@portkey-ai/gateway': versionIn('../node_modules/@portkey-ai/gateway/package.json'),
      undici: versionIn('../node_modules/undici/package.json'),
    },
  };
}

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

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

function number(value, digits) {
  return value === undefined ? '' : value.toFixed(digits);
}

function versionIn(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).version;
}
