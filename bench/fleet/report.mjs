/** The tables on the terminal, in Markdown. */
import { number, table } from '../markdown.mjs';

/** All tables of a run. */
export function markdown({ rushes, overhead, verdicts, machine }) {
  const { node, cpus, cpu, loadAverage, versions } = machine;
  const parts = [`${node}, Redis ${versions.redis}, ${cpus} x ${cpu}, load ${loadAverage.toFixed(1)} at the start`];
  if (rushes.length > 0) parts.push(`### All at once, before a provider with limits\n\n${rushTable(rushes)}`);
  if (overhead)
    parts.push(`### What it costs a call that need not wait\n\n${overheadTable(overhead)}`, lockLine(overhead.lock));
  parts.push(`### Targets\n\n${verdictTable(verdicts)}`);
  return parts.join('\n\n');
}

function rushTable(rushes) {
  const head = ['requests', 'pods', 'total', 'succeeded', 'failed', 'total s', 'least s', 'x least', 'per s'];
  const times = ['mean ms', 'median ms', 'P95 ms', 'P99 ms'];
  const rows = rushes.map((rush) => [
    `${rush.mode}, ${rush.size} at once`,
    ...[rush.pods, rush.total, rush.succeeded, rush.failed].map(String),
    number(rush.elapsedMs / 1_000, 1),
    number(rush.leastMs / 1_000, 1),
    number(rush.timesLeast, 2),
    number(rush.perSecond, 1),
    ...[rush.meanMs, rush.medianMs, rush.p95Ms, rush.p99Ms].map((ms) => number(ms, 0)),
    String(rush.refused),
    `${rush.most} of ${rush.limit} in ${rush.windowMs / 1_000} s`,
  ]);
  return table([...head, ...times, 'upstream 429s', 'most in any window'], rows);
}

function overheadTable({ calls }) {
  const head = [
    'one call',
    'p50 ms',
    'added p50',
    'added by limits',
    'CPU µs',
    'x bare',
    'Redis CPU µs',
    'scripts',
    'alone',
  ];
  const rows = calls.map((call) => [
    call.title,
    ...[call.p50Ms, call.addedP50Ms, call.addedToPlainMs].map((ms) => number(ms, 2)),
    number(call.cpuMicros, 0),
    number(call.cpuToBare, 2),
    number(call.redisMicros, 0),
    ...[call.scripts, call.scriptsAlone].map((scripts) => number(scripts, 2)),
  ]);
  return table(head, rows);
}

function lockLine({ p50Ms, commands }) {
  return `A lock that nobody else wants: ${number(p50Ms, 2)} ms (p50 of acquire and release), ${number(commands, 2)} scripts.`;
}

function verdictTable(verdicts) {
  const rows = verdicts.map(({ target, cell, bound, limit, value, verdict }) => [
    target,
    cell,
    `${bound} ${limit}`,
    number(value, 2),
    verdict,
  ]);
  return table(['target', 'where', 'bound', 'measured', ''], rows);
}
