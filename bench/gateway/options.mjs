/** The command line of the gateway bench. */
import { chosen, COMMON_USAGE, readArguments } from '../bench-run.mjs';
import { CONTESTANTS } from './contestants.mjs';
import { WORKLOADS } from './workloads.mjs';

export const USAGE = `node bench/gateway/run.mjs [options]
  --quick          a smoke run: a fifth of the requests, 3 rounds; its figures are rough
  --rounds N       rounds per cell, 1 to 20 (default 5)
  --only A,B       only these workloads and contestants (direct and bare always run)
                   workloads: ${WORKLOADS.map(({ name }) => name).join(', ')}
                   contestants: ${CONTESTANTS.map(({ name }) => name).join(', ')} (pipe runs only when named)
${COMMON_USAGE}`;

/** @throws Error that names the wrong option and the choices */
export function readOptions(args) {
  const known = [...WORKLOADS, ...CONTESTANTS].map(({ name }) => name);
  const { names, ...options } = readArguments(args, { known, rounds: 5, quickRounds: 3 });
  const isNamed = CONTESTANTS.some(({ name }) => names.includes(name));
  return {
    ...options,
    workloads: chosen(WORKLOADS, names),
    contestants: CONTESTANTS.filter(
      ({ name, isLimit, isOptIn }) => isLimit || (isNamed ? names.includes(name) : !isOptIn),
    ),
  };
}
