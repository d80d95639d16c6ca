/** The tables on the terminal, in Markdown. */
import { number, table } from '../markdown.mjs';

const UNCONTENDED_COLUMNS = [
  ['pair p50 ms', (figures) => number(figures.p50Ms, 3)],
  ['x raw', (figures) => number(figures.to?.p50Ms, 2)],
  ['p99 ms', (figures) => number(figures.p99Ms, 2)],
  ['sections/s', (figures) => number(figures.perSecond, 0)],
  ['x raw', (figures) => number(figures.to?.perSecond, 2)],
  ['client CPU µs', (figures) => number(figures.clientMicros, 1)],
  ['Redis CPU µs', (figures) => number(figures.redisMicros, 1)],
  ['commands', (figures) => number(figures.commands, 2)],
];
const CONTENDED_COLUMNS = [
  ['hand-off p50 ms', (figures) => number(figures.handOffP50Ms, 2)],
  ['p99 ms', (figures) => number(figures.handOffP99Ms, 1)],
  ['efficiency', (figures) => number(figures.efficiency, 2)],
  ['x bare', (figures) => number(figures.to?.efficiency, 2)],
  ['commands/grant', (figures) => number(figures.commands, 2)],
  ['Redis CPU µs/grant', (figures) => number(figures.redisMicros, 0)],
  ['Kendall tau', (figures) => number(figures.kendallTau, 3)],
  ['longest wait ms', (figures) => number(figures.longestWaitMs, 0)],
  [
    'gave up',
    (figures) => (figures.unfinished ? `not done in 60 s (${figures.unfinished} rounds)` : number(figures.failures, 0)),
  ],
];
const LOOP_COLUMNS = [
  ['grants', (figures) => number(figures.grants, 0)],
  ['Jain index', (figures) => number(figures.jain, 3)],
  ['longest wait ms', (figures) => number(figures.longestWaitMs, 0)],
  ['gave up', (figures) => number(figures.failures, 0)],
];

/** All tables of a run. */
export function markdown({ machine, labels, uncontended, contended, loops, loss, shutdown, verdicts }) {
  const { node, cpus: cores, cpu, loadAverage, versions } = machine;
  const parts = [`${node}, redis ${versions.redis}, ${cores} x ${cpu}, load ${loadAverage.toFixed(1)} at the start`];
  const add = (heading, columns, entrants) =>
    parts.push(`### ${heading}\n\n${figuresTable(columns, entrants, labels)}`);
  for (const { inFlight, sections, entrants } of uncontended)
    add(`Uncontended, ${inFlight} at a time (${sections} sections a round)`, UNCONTENDED_COLUMNS, entrants);
  for (const { waiters, processes, holdMs, entrants } of contended)
    add(
      `${waiters} waiters in ${processes} process(es), once each, holds of ${holdMs} ms`,
      CONTENDED_COLUMNS,
      entrants,
    );
  for (const { workers, processes, runMs, entrants } of loops)
    add(`${workers} workers in ${processes} process(es), again and again for ${runMs} ms`, LOOP_COLUMNS, entrants);
  if (loss) parts.push(`### The bad moments\n\n${lossTable({ loss, shutdown, labels })}`);
  if (verdicts.length > 0) parts.push(`### Targets\n\n${verdictTable(verdicts)}`);
  return parts.join('\n\n');
}

/** Seconds, or that it never was. */
export function seconds(milliseconds) {
  return milliseconds === null ? 'never' : (milliseconds / 1000).toFixed(2);
}

function figuresTable(columns, entrants, labels) {
  const rows = Object.entries(entrants).map(([id, figures]) => [labels[id], ...columns.map(([, of]) => of(figures))]);
  return table(['', ...columns.map(([head]) => head)], rows);
}

function lossTable({ loss, shutdown, labels }) {
  const rows = Object.keys(loss).map((id) => [labels[id], seconds(loss[id]), seconds(shutdown[id])]);
  return table(['', 'told of a lost 2 s lease, s', 'free after SIGTERM (5 s lease), s'], rows);
}

function verdictTable(verdicts) {
  const rows = verdicts.map(({ target, cell, bound, limit, value, verdict }) => [
    target,
    cell,
    `${bound} ${Number(limit.toFixed(2))}`,
    number(value, 2),
    verdict,
  ]);
  return table(['target', 'cell', '', 'measured', ''], rows);
}
