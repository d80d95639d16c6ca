import type { BalancedRequest } from './haproxy.js';
import type { Sighting } from './pod-watch.js';
import type { LeftWork } from './rolling-fleet.js';
import type { RolledCall, Visit } from './rolling-traffic.js';
import type { Ended } from './spawned-server.js';

/** How a pod went. */
export interface PodEnd {
  readonly name: string;
  readonly ended: Pick<Ended, 'code' | 'signal' | 'errors'>;
  /** From the signal to its end. */
  readonly tookMs: number;
  readonly sightings: readonly Sighting[];
}

/** A call in the ledger, as callers are told. */
export interface BookedCall {
  readonly request_id: string;
  readonly outcome: string;
}

/** A rollout, as everybody saw it. */
export interface RolledRun {
  readonly calls: readonly RolledCall[];
  readonly visits: readonly Visit[];
  readonly pods: readonly PodEnd[];
  readonly balanced: readonly BalancedRequest[];
  readonly ledger: readonly BookedCall[];
  readonly left: LeftWork;
  /** Within which a pod has to be gone, ms. */
  readonly graceMs: number;
}

/** Whole answers: of the provider, from the cache, or of another call that was under way. */
const GOOD_OUTCOMES = ['complete', 'hit', 'joined'];

/** @returns everything that must not have happened */
export function rolloutFaults(run: RolledRun): readonly string[] {
  return [
    ...run.calls.flatMap(callFaults),
    ...visitFaults(run.visits),
    ...run.pods.flatMap((pod) => podFaults(pod, run.graceMs)),
    ...run.balanced.flatMap(balancerFaults),
    ...ledgerFaults(run.calls, run.ledger),
    ...leftFaults(run.left),
  ];
}

function callFaults({ kind, id, status, text, expected, isWhole, fault }: RolledCall): readonly string[] {
  const name = `${kind} ${id}`;
  if (status === 0) return [`${name}: no answer, ${fault}`];
  if (status >= 300) return [`${name}: refused with ${String(status)} ${text}`];
  if (!isWhole) return [`${name}: cut after ${String(text.length)} of ${String(expected.length)} characters ${fault}`];
  return text === expected ? [] : [`${name}: said ${text}, not ${expected}`];
}

/** Never two in one room, and later ones with higher fences. */
function visitFaults(visits: readonly Visit[]): readonly string[] {
  const inOrder = [...visits].sort((one, other) => one.enteredAt - other.enteredAt);
  return inOrder.flatMap((visit, index) => {
    const before = inOrder.slice(0, index).findLast(({ room }) => room === visit.room);
    if (before === undefined) return [];
    return [
      ...(before.leftAt > visit.enteredAt ? [`${visit.room}: two at one time`] : []),
      ...(before.fence >= visit.fence
        ? [`${visit.room}: fence ${String(visit.fence)} after ${String(before.fence)}`]
        : []),
    ];
  });
}

function podFaults({ name, ended, tookMs, sightings }: PodEnd, graceMs: number): readonly string[] {
  const faults: string[] = [];
  if (ended.code !== 0) faults.push(`${name}: ended with ${String(ended.code ?? ended.signal)}`);
  if (ended.errors !== '') faults.push(`${name}: wrote ${ended.errors}`);
  if (tookMs > graceMs) faults.push(`${name}: took ${String(Math.round(tookMs))} ms`);
  return [...faults, ...sightingFaults(sightings).map((fault) => `${name}: ${fault}`)];
}

/** It says that it is not ready, and takes calls all the same; no connection breaks, and the end of each is told beforehand. */
function sightingFaults(sightings: readonly Sighting[]): readonly string[] {
  const unready = sightings.findIndex(({ path, status }) => path === '/ready' && status === 503);
  if (unready === -1) return ['never said that it was not ready'];
  const onItsWay = sightings.slice(unready);
  const broken = sightings.filter(({ status }) => status === 0).map(({ code }) => `broke a connection: ${code}`);
  const refused = sightings.filter(({ path, status }) => path === '/v1/models' && status >= 300);
  return [
    ...broken,
    ...refused.map(({ status }) => `refused a call with ${String(status)} before its time`),
    ...(onItsWay.some(({ status, isClosing }) => status !== 0 && !isClosing)
      ? ['did not tell a connection its end']
      : []),
  ];
}

/** The balancer saw no end before its time, and had to try nobody twice. */
function balancerFaults({ slot, status, end, retries, request }: BalancedRequest): readonly string[] {
  // A reader of a turn that leaves and comes back ends its first request itself (CD).
  const isOwnEnd = end === 'CD' && request.includes('/turns ');
  if ((end === '--' || isOwnEnd) && retries === 0) return [];
  return [`the balancer saw ${request} at ${slot} end as ${end} with ${String(status)}, ${String(retries)} retries`];
}

/** Each call is booked as often as it was answered, and whole. */
function ledgerFaults(calls: readonly RolledCall[], ledger: readonly BookedCall[]): readonly string[] {
  const owed = countOf(calls.flatMap(({ booked }) => booked));
  const booked = countOf(ledger.map(({ request_id: id }) => id));
  const wrong = [...new Set([...owed.keys(), ...booked.keys()])].filter((id) => owed.get(id) !== booked.get(id));
  const bad = ledger.filter(({ outcome }) => !GOOD_OUTCOMES.includes(outcome));
  return [
    ...wrong.map((id) => `${id}: booked ${String(booked.get(id) ?? 0)} times, should ${String(owed.get(id) ?? 0)}`),
    ...bad.map(({ request_id: id, outcome }) => `${id}: booked as ${outcome}`),
  ];
}

function countOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function leftFaults({ locks, ...amounts }: LeftWork): readonly string[] {
  const left = Object.entries(amounts).filter(([, amount]) => amount !== 0);
  return [...locks.map((key) => `${key} is left`), ...left.map(([name, amount]) => `${name} is ${String(amount)}`)];
}
