import { ADMISSION_LIMITS } from '../admission.limits.js';
import type { OpenScope } from './open-scope.js';
import type { WaitingRecord } from './scope.record.js';

/** Lets in whose time has come, in the order of the flows' tags. */
export function pump(scope: OpenScope): void {
  for (let round = 0; round < ADMISSION_LIMITS.rounds; round += 1) {
    if (!admitFirst(scope)) return;
  }
  scope.kept.pumpAt = scope.kept.time + 1;
}

/** True where the first waiter was let in, or was let go: then the next one is first. */
function admitFirst(scope: OpenScope): boolean {
  const { kept, room } = scope;
  const first = firstOf(scope);
  if (first === undefined) return false;
  const { id, record, tag } = first;
  const isTooLarge = room.windows.some((window) => record.tokens > window.tokenLimit);
  if (isTooLarge || record.deadline < kept.time) {
    scope.lapse(id, record);
    return true;
  }
  if (!room.hasSlot) {
    kept.pumpAt = kept.leases.first?.score ?? kept.time + ADMISSION_LIMITS.guessMs;
    return false;
  }
  const at = room.soon(record.tokens);
  if (at === undefined) {
    const { lookAheadMs } = room;
    const soonest = kept.time + Math.max(1, Math.floor(lookAheadMs / 2));
    kept.pumpAt = Math.max(room.roomAt(record.tokens, 0, 0).at - lookAheadMs, soonest);
    return false;
  }
  scope.dequeue(id, record, scope.grant(id, record, at, tag));
  scope.tell(record.process, { kind: 'granted', id, atMs: at });
  return true;
}

function firstOf({
  kept: { flows, records },
}: OpenScope): { readonly id: string; readonly record: WaitingRecord; readonly tag: number } | undefined {
  const flow = flows.active.first;
  const id = flow && flows.queueOf(flow.member)?.ids.first?.member;
  const record = id === undefined ? undefined : records.get(id);
  if (flow === undefined || id === undefined || record?.state !== 'waiting') return undefined;
  return { id, record, tag: flow.score };
}
