/**
 * Writes the README's table of figures from docs/proof/gateway-bench.json: `readme-figures.mjs`. With `--check` it writes nothing
 * and fails where the README says something else.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const README = `${root}README.md`;
const BEGIN = '<!-- made by scripts/readme-figures.mjs -->';
const END = '<!-- end -->';

const COLUMNS = [
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

const { figures, startedAt, node } = JSON.parse(readFileSync(`${root}docs/proof/gateway-bench.json`, 'utf8'));
const readme = readFileSync(README, 'utf8');
const written = `${readme.slice(0, readme.indexOf(BEGIN))}${BEGIN}\n\n${section()}\n\n${readme.slice(readme.indexOf(END))}`;
if (process.argv.includes('--check')) process.exitCode = squeeze(written) === squeeze(readme) ? 0 : 1;
else writeFileSync(README, written);

function section() {
  const { cells, machine, residentMb } = figures.gateway;
  const rows = [
    COLUMNS.map(([head]) => head),
    COLUMNS.map(() => '---'),
    ...cells.map((cell) => COLUMNS.map(([, of]) => of(cell))),
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const memory = Object.entries(residentMb).map(([name, mb]) => `${name} ${whole(mb)}`);
  return `${table}\n\nRun on ${startedAt.slice(0, 10)}, Node ${node}, ${machine.cpus} cores, load ${machine.loadAverage.toFixed(1)} at the start. Resident memory after it, MB: ${memory.join(', ')}.`;
}

/** The table is aligned by Prettier afterwards. */
function squeeze(text) {
  return text.replaceAll(/ +|-{2,}/g, ' ');
}

function whole(value) {
  return value === undefined ? '–' : String(Math.round(value));
}

function fixed(value) {
  return value === undefined ? '–' : value.toFixed(2);
}

function added(figures) {
  return figures === undefined ? '–' : `${fixed(figures.addedP50Ms)} / ${fixed(figures.addedP99Ms)}`;
}

function firstToken({ contestants: { bare, coordinator } }) {
  return bare.addedFirstTokenMs === undefined
    ? ''
    : `${fixed(bare.addedFirstTokenMs)} / ${fixed(coordinator.addedFirstTokenMs)}`;
}
