/** The measuring itself: interleaved rounds, A B C D, then B C D A, and so on, on each cell. */
import { setTimeout as wait } from 'node:timers/promises';
import { turned } from '../bench-run.mjs';
import { messageOf } from './child.mjs';
import { cpuMicros } from './process-cost.mjs';

const BATCH_TIMEOUT_MS = 180_000;
/** What a gateway still does after its last answer (logs, timers) belongs to its own count. */
const SETTLE_MS = 50;
const WARM_UP = [
  { workload: 'json-1k', requests: 1500 },
  { workload: 'json-20k', requests: 300 },
  { workload: 'stream-100', requests: 60 },
];

/** Lets a contestant's code become hot. @throws Error when it gives wrong answers, or has not learned what it is measured with */
export async function warmUp(load, contestant) {
  await open(load, contestant, 16);
  for (const { workload, requests } of WARM_UP) {
    const figures = await order(load, { kind: 'run', workload, requests });
    if (figures.errors > 0)
      throw new Error(`${contestant.name} gives wrong answers on ${workload}: ${figures.faults.join('; ')}`);
  }
  const fault = await contestant.faultWhenWarm?.();
  if (fault) throw new Error(`${contestant.name} is not what is to be measured: ${fault}`);
}

/** One cell: every contestant once per round, the order turned by one each round. */
export async function measureCell({ load, contestants, workload, cell, rounds, scale }) {
  const requests = Math.max(Math.ceil(cell.requests * scale), Math.min(cell.connections, 64), 5);
  const taken = Object.fromEntries(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of turned(contestants, round)) {
      const figures = await measure(load, contestant, {
        connections: cell.connections,
        workload: workload.name,
        requests,
      });
      taken[contestant.name].push(figures);
    }
  }
  return { workload: workload.name, title: workload.title, connections: cell.connections, requests, rounds: taken };
}

async function measure(load, contestant, { connections, workload, requests }) {
  await open(load, contestant, Math.min(connections, requests));
  await wait(SETTLE_MS);
  const before = cpuOf(contestant);
  const figures = await order(load, { kind: 'run', workload, requests });
  await wait(SETTLE_MS);
  return { ...figures, cpuMicros: contestant.process && (cpuOf(contestant) - before) / requests };
}

function cpuOf(contestant) {
  return contestant.process ? cpuMicros(contestant.process.pid) : 0;
}

function open(load, { url, headers }, connections) {
  return order(load, { kind: 'open', url, headers, connections });
}

async function order(load, message) {
  load.send(message);
  const answer = await messageOf(load, BATCH_TIMEOUT_MS);
  if (answer.failure) throw new Error(`the load generator failed: ${answer.failure}`);
  return answer;
}
