/** Who is compared, in which variants, and which commands each of them sends. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Contestant
 * @property {string} name of its adapter
 * @property {string} title
 * @property {readonly ('default' | 'tuned')[]} variants tuned: nobody gives up, and retries are short
 * @property {readonly string[]} commands what it sends; INFO commandstats also counts what scripts call, under other names
 * @property {boolean} [isLimit] a yardstick that no one could use
 * @property {readonly ('uncontended' | 'contended' | 'loss')[]} parts where it takes part
 */

const SCRIPTS = ['evalsha', 'eval'];
const ALL_PARTS = ['uncontended', 'contended', 'loss'];

/** @type {readonly Contestant[]} */
export const CONTESTANTS = [
  {
    name: 'raw',
    title: 'SET NX PX + EVALSHA (the limit)',
    variants: ['default'],
    commands: ['set', ...SCRIPTS],
    isLimit: true,
    parts: ['uncontended'],
  },
  {
    name: 'bare',
    title: 'bare direct hand-off (the limit)',
    variants: ['default'],
    commands: SCRIPTS,
    isLimit: true,
    parts: ['contended'],
  },
  { name: 'coordinator', title: 'this module', variants: ['default'], commands: SCRIPTS, parts: ALL_PARTS },
  { name: 'redlock', title: 'redlock', variants: ['default', 'tuned'], commands: SCRIPTS, parts: ALL_PARTS },
  {
    name: 'redis-semaphore',
    title: 'redis-semaphore',
    variants: ['default', 'tuned'],
    commands: ['set', ...SCRIPTS],
    parts: ALL_PARTS,
  },
  {
    name: 'redlock-universal',
    title: 'redlock-universal',
    variants: ['default', 'tuned'],
    commands: ['set', 'ping', ...SCRIPTS],
    parts: ALL_PARTS,
  },
];

const NEEDED = [
  ['../../dist/lock/index.js', 'npm run build'],
  ['../node_modules/redlock', 'npm ci --prefix bench'],
];

/** @throws Error that says what to run */
export function checkInstalled() {
  const missing = NEEDED.find(([file]) => !existsSync(fileURLToPath(new URL(file, import.meta.url))));
  if (missing) throw new Error(`${missing[0]} is not there: run \`${missing[1]}\` at the root of the project`);
}

/** Contestants of a part, each with one variant. */
export function entrantsOf(contestants, part, variants = ['default', 'tuned']) {
  return contestants
    .filter(({ parts }) => parts.includes(part))
    .flatMap((contestant) =>
      contestant.variants
        .filter((variant) => variants.includes(variant))
        .map((variant) => entrant(contestant, variant)),
    );
}

function entrant(contestant, variant) {
  const isTuned = variant === 'tuned';
  return {
    ...contestant,
    variant,
    isTuned,
    id: isTuned ? `${contestant.name}:tuned` : contestant.name,
    label: contestant.variants.length > 1 ? `${contestant.title}, ${variant}` : contestant.title,
  };
}
