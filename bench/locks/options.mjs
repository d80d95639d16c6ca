/** The command line of the lock bench. */
import { chosen, COMMON_USAGE, readArguments } from '../bench-run.mjs';
import { CONTESTANTS } from './contestants.mjs';

export const PARTS = ['uncontended', 'contended', 'loop', 'loss'];

export const USAGE = `node bench/locks/run.mjs [options]
  --quick          a smoke run: fewer sections, one round, no 1,000 waiters; its figures are rough
  --rounds N       rounds per cell, 1 to 20 (default 5; 200 waiters take at most 3, 1,000 take one)
  --only A,B       only these parts and contestants (the limits, raw and bare, always run)
                   parts: ${PARTS.join(', ')}
                   contestants: ${CONTESTANTS.map(({ name }) => name).join(', ')}
${COMMON_USAGE}`;

/** @throws Error that names the wrong option and the choices */
export function readOptions(args) {
  const known = [...PARTS, ...CONTESTANTS.map(({ name }) => name)];
  const { names, ...options } = readArguments(args, { known, rounds: 5, quickRounds: 1 });
  const selected = chosen(CONTESTANTS, names);
  return {
    ...options,
    parts: chosen(PARTS, names, (part) => part),
    contestants: CONTESTANTS.filter((one) => one.isLimit || selected.includes(one)),
  };
}
