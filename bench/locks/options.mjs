/** The command line of the lock bench. */
import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.mjs';

export const PARTS = ['uncontended', 'contended', 'loop', 'loss'];

export const USAGE = `node bench/locks/run.mjs [options]
  --quick          a smoke run: fewer sections, one round, no 1,000 waiters; its figures are rough
  --rounds N       rounds per cell, 1 to 20 (default 5; 200 waiters take at most 3, 1,000 take one)
  --only A,B       only these parts and contestants (the limits, raw and bare, always run)
                   parts: ${PARTS.join(', ')}
                   contestants: ${CONTESTANTS.map(({ name }) => name).join(', ')}
  --json FILE      write every figure to FILE
  --gate           a missed target is a failure (exit code 1)
  --help`;

/** @throws Error that names the wrong option and the choices */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      gate: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
    throw new Error('--rounds takes a whole number from 1 to 20');
  return { ...values, ...selection(values.only), rounds, scale: values.quick ? 0.2 : 1 };
}

function selection(only) {
  const names = only
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = [...PARTS, ...CONTESTANTS.map(({ name }) => name)];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new Error(`--only: nothing is called ${unknown}; there are ${known.join(', ')}`);
  const parts = PARTS.filter((part) => names.includes(part));
  const chosen = CONTESTANTS.filter(({ name }) => names.includes(name));
  return {
    parts: parts.length > 0 ? parts : PARTS,
    contestants: chosen.length > 0 ? CONTESTANTS.filter((one) => one.isLimit || chosen.includes(one)) : CONTESTANTS,
  };
}
