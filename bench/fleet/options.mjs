/** The command line of the fleet bench. */
import { chosen, COMMON_USAGE, readArguments } from '../bench-run.mjs';

/** Requests that are under way at once. */
export const SIZES = ['200', '500', '1000'];
export const PARTS = ['overhead', ...SIZES];

export const USAGE = `npm run bench -- [options]      or: node bench/fleet/run.mjs [options]
  --quick          a smoke run: windows of 2 s instead of 5 s, fewer requests for the overhead; its figures are rough
  --rounds N       rounds of the overhead, 1 to 20 (default 5)
  --only A,B       only these parts: ${PARTS.join(', ')} (the numbers are requests at once)
${COMMON_USAGE}`;

/** @throws Error that names the wrong option and the choices */
export function readOptions(args) {
  const { names, ...options } = readArguments(args, { known: PARTS, rounds: 5, quickRounds: 2 });
  return { ...options, parts: chosen(PARTS, names, (part) => part), windowMs: options.quick ? 2_000 : 5_000 };
}
