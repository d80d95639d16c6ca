/**
 * Writes the README's tables of figures from docs/proof/: `readme-figures.mjs`. With `--check` it writes nothing and fails where
 * the README says something else. Each table stands between a line of its own and `<!-- end -->`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const README = `${root}README.md`;
const END = '<!-- end -->';

/** Where each proof goes, and what is written of it. */
const SECTIONS = [
  { begin: '<!-- made by scripts/readme-figures.mjs -->', proof: 'gateway-bench', write: gatewaySection },
  { begin: '<!-- made by scripts/readme-figures.mjs: locks -->', proof: 'lock-bench', write: lockSection },
];

const GATEWAY_COLUMNS = [
  ['', ({ title, connections }) => `${title}, ${connections} at a time`],
  ['CPU µs: bare', (cell) => whole(cell.contestants.bare.cpuMicros)],
  ['ours', (cell) => whole(cell.contestants.coordinator.cpuMicros)],
  ['Portkey', (cell) => whole(cell.contestants.portkey?.cpuMicros)],
  ['ours / bare', (cell) => fixed(cell.contestants.coordinator.cpuToBare)],
  ['ours / Portkey', (cell) => fixed(cell.contestants.coordinator.cpuToPortkey)],
  ['added p50 / p99 ms: bare', (cell) => added(cell.contestants.bare)],
  ['ours', (cell) => added(cell.contestants.coordinator)],
  ['Portkey', (cell) => added(cell.contestants.portkey)],
  ['added first token ms: bare / ours', firstToken],
];
/** Of one contestant; `of` finds its figures in a cell. */
const LOCK_COLUMNS = [
  ['', ({ label }) => label],
  ['alone: p50 ms', ({ of }) => fixed(of('uncontended', { inFlight: 1 })?.p50Ms, 3)],
  ['64 at a time: locks/s', ({ of }) => whole(of('uncontended', { inFlight: 64 })?.perSecond)],
  ['hand-off p50 / p99 ms, 200 waiters', ({ of }) => pair(rush(of, 200, 1), 'handOffP50Ms', 'handOffP99Ms')],
  [
    'efficiency 1 x 50, 4 x 50, 4 x 1,000',
    ({ of }) =>
      rushes(of, 'efficiency', fixed, [
        [50, 1],
        [50, 4],
        [1_000, 4],
      ]),
  ],
  [
    'commands per grant, 50, 200, 1,000',
    ({ of }) =>
      rushes(of, 'commands', tenth, [
        [50, 1],
        [200, 1],
        [1_000, 1],
      ]),
  ],
  ['Redis CPU µs per grant, 200', ({ of }) => whole(rush(of, 200, 1)?.redisMicros)],
  ['order (tau), 4 x 200', ({ of }) => fixed(rush(of, 200, 4)?.kendallTau)],
  ['gave up of 1,000', ({ of }) => whole(rush(of, 1_000, 4)?.failures)],
  ['share (Jain), longest wait ms, 50 in a loop', ({ of }) => share(of('loops', { processes: 1 }))],
  ['told of a lost 2 s lease, s', ({ loss }) => seconds(loss)],
  ['free after SIGTERM, s', ({ shutdown }) => seconds(shutdown)],
];

const isCheck = process.argv.includes('--check');
const readme = readFileSync(README, 'utf8');
const written = SECTIONS.reduce(fill, readme);
if (isCheck) process.exitCode = squeeze(written) === squeeze(readme) ? 0 : 1;
else writeFileSync(README, written);

function fill(text, { begin, proof, write }) {
  const from = text.indexOf(begin);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) throw new Error(`README.md has no "${begin}" that ends with "${END}"`);
  const record = JSON.parse(readFileSync(`${root}docs/proof/${proof}.json`, 'utf8'));
  return `${text.slice(0, from)}${begin}\n\n${write(record)}\n\n${text.slice(to)}`;
}

function gatewaySection({ figures, startedAt, node }) {
  const { cells, machine, residentMb } = figures.gateway;
  const memory = Object.entries(residentMb).map(([name, mb]) => `${name} ${whole(mb)}`);
  const rows = cells.map((cell) => GATEWAY_COLUMNS.map(([, of]) => of(cell)));
  return `${table([GATEWAY_COLUMNS.map(([head]) => head), ...rows])}\n\n${runLine({ startedAt, node, machine })} Resident memory after it, MB: ${memory.join(', ')}.`;
}

function lockSection({ figures, startedAt, node }) {
  const { machine, labels, loss, shutdown, verdicts, ...parts } = figures.locks;
  const rows = Object.entries(labels).map(([id, label]) => {
    const of = (part, place) => cellIn(parts[part], place)?.entrants[id];
    const known = (times) => (id in times ? { ms: times[id] } : undefined);
    return LOCK_COLUMNS.map(([, cell]) => cell({ label, of, loss: known(loss), shutdown: known(shutdown) }));
  });
  const missed = verdicts.filter(({ verdict }) => verdict !== 'pass');
  const met = `Of ${verdicts.length} targets ${verdicts.length - missed.length} are met.`;
  const targets = [...new Set(missed.map(({ target }) => target))];
  const list = targets.map((target) => missedLine(missed.filter((each) => each.target === target)));
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  const notes = [
    `${runLine({ startedAt, node, machine })} ${versions.join(', ')}.`,
    met,
    ...(list.length > 0 ? [`Missed: ${list.join('; ')}.`] : []),
  ];
  return `${table([LOCK_COLUMNS.map(([head]) => head), ...rows])}\n\n${notes.join(' ')}`;
}

/** One target, in all cells where it was missed. */
function missedLine(misses) {
  const [{ target, bound }] = misses;
  const cells = misses.map(({ cell }) => cell).join(', ');
  return `${target} ${range(misses.map(({ value }) => value))}, ${bound} ${range(misses.map(({ limit }) => limit))} (${cells})`;
}

function range(values) {
  const [least, most] = [fixed(Math.min(...values)), fixed(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

function cellIn(cells, place) {
  return cells.find((cell) => Object.entries(place).every(([name, value]) => cell[name] === value));
}

function rush(of, waiters, processes) {
  return of('contended', { waiters, processes });
}

function rushes(of, key, write, cells) {
  return cells.map(([waiters, processes]) => write(rush(of, waiters, processes)?.[key])).join(', ');
}

function table(rows) {
  const [head, ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function runLine({ startedAt, node, machine }) {
  return `Run on ${startedAt.slice(0, 10)}, Node ${node}, ${machine.cpus} cores, load ${machine.loadAverage.toFixed(1)} at the start.`;
}

/** The table is aligned by Prettier afterwards. */
function squeeze(text) {
  return text.replaceAll(/ +|-{2,}/g, ' ');
}

function whole(value) {
  return fixed(value, 0);
}

function tenth(value) {
  return fixed(value, 1);
}

function fixed(value, digits = 2) {
  return value === undefined || value === null ? '–' : value.toFixed(digits);
}

function pair(figures, one, other) {
  return figures === undefined ? '–' : `${fixed(figures[one])} / ${tenth(figures[other])}`;
}

function share(figures) {
  return figures === undefined ? '–' : `${fixed(figures.jain)} / ${whole(figures.longestWaitMs)}`;
}

/** Nothing for who took no part; never, where it took part and was not told. */
function seconds(known) {
  if (known === undefined) return '–';
  return known.ms === null ? 'never' : fixed(known.ms / 1_000);
}

function added(figures) {
  return figures === undefined ? '–' : `${fixed(figures.addedP50Ms)} / ${fixed(figures.addedP99Ms)}`;
}

function firstToken({ contestants: { bare, coordinator } }) {
  return bare.addedFirstTokenMs === undefined
    ? ''
    : `${fixed(bare.addedFirstTokenMs)} / ${fixed(coordinator.addedFirstTokenMs)}`;
}
