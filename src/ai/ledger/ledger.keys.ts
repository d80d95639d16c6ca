import { escapeName } from '../../store/index.js';
import type { PeriodName } from './ledger.periods.js';

/** The keys of a caller lie in one slot. The number rises with their format, so that pods of two versions don't read each other. */
function tag(prefix: string, caller: string): string {
  return `${prefix}lg:{c:${escapeName(caller)}}:1:`;
}

/** The key of a caller's log. */
export function logKey(prefix: string, caller: string): string {
  return `${tag(prefix, caller)}log`;
}

/** Where the ids of the calls are remembered that were booked lately. */
export function idsKey(prefix: string, caller: string): string {
  return `${tag(prefix, caller)}ids`;
}

/** The key of the sums of a day or a month. */
export function sumsKey(prefix: string, caller: string, period: PeriodName): string {
  return `${tag(prefix, caller)}sums:${period}`;
}
