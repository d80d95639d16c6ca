/** The command line of the gateway bench. */
import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.mjs';
import { WORKLOADS } from './workloads.mjs';

export const USAGE = `node bench/gateway/run.mjs [options]
  --quick          a smoke run: a fifth of the requests, 3 rounds; its figures are rough
  --rounds N       rounds per cell, 1 to 20 (default 5)
  --only A,B       only these workloads and contestants (direct and bare always run)
                   workloads: ${WORKLOADS.map(({ name }) => name).join(', ')}
                   contestants: ${CONTESTANTS.map(({ name }) => name).join(', ')} (pipe runs only when named)
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
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20)
    throw new Error('--rounds takes a whole number from 1 to 20');
  return { ...values, ...selection(values.only), rounds, scale: values.quick ? 0.2 : 1 };
}

function selection(only) {
  const names = only
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = [...WORKLOADS, ...CONTESTANTS].map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new Error(`--only: nothing is called ${unknown}; there are ${known.join(', ')}`);

  const workloads = WORKLOADS.filter(({ name }) => names.includes(name));
  const contestants = CONTESTANTS.filter(({ name }) => names.includes(name));
  const chosen = contestants.length > 0 ? contestants : CONTESTANTS.filter(({ isOptIn }) => !isOptIn);
  return {
    workloads: workloads.length > 0 ? workloads : WORKLOADS,
    contestants: CONTESTANTS.filter((one) => chosen.includes(one) || one.name === 'direct' || one.name === 'bare'),
  };
}
