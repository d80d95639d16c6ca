import type { AdmissionOutcome, ReservationEnd } from '../../../src/admission/index.js';
import type { CacheOutcome } from '../../../src/ai/call/call.report.js';
import type { LossReason as LedgerLoss } from '../../../src/ai/ledger/ledger.observer.js';
import { STATUS_TABLE } from '../../../src/http/index.js';
import type { WaitOutcome } from '../../../src/lock/index.js';
import type { LeaseEnd } from '../../../src/lock/lock.errors.js';

/** All names of a union: the compiler asks for each. */
function all<Name extends string>(names: Readonly<Record<Name, true>>): readonly string[] {
  return Object.keys(names);
}

const CODES = Object.keys(STATUS_TABLE);
const LEASE_ENDS = all<LeaseEnd>({
  released: true,
  closing: true,
  expired: true,
  max_hold: true,
  gone: true,
  revoked: true,
});

/** The values of labels, where the code says which there are, by `metric label`. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'coordinator_http_requests_total status': ['1xx', '2xx', '3xx', '4xx', '5xx'],
  'coordinator_failed_attempts_total code': CODES,
  'coordinator_completions_total outcome': ['ok', 'client_gone', ...CODES],
  'coordinator_upstream_seconds stream': ['true', 'false'],
  'coordinator_key_parked reason': ['quota', 'refused'],
  'coordinator_limit unit': ['requests_per_minute', 'tokens_per_minute', 'slots'],
  'coordinator_budget_events_total threshold': ['80', '100'],
  'coordinator_admission_wait_seconds outcome': all<AdmissionOutcome>({
    granted: true,
    busy: true,
    too_large: true,
    budget: true,
    overloaded: true,
    store: true,
    given_up: true,
  }),
  'coordinator_reservations_ended_total end': all<ReservationEnd>({
    settled: true,
    cancelled: true,
    expired: true,
    abandoned: true,
  }),
  'coordinator_cache_total outcome': all<CacheOutcome>({ hit: true, miss: true, joined: true, bypass: true }),
  'coordinator_ledger_lost_total reason': all<LedgerLoss>({ overflow: true, late: true, shutdown: true }),
  'coordinator_lock_wait_seconds outcome': all<WaitOutcome>({
    granted: true,
    busy: true,
    timeout: true,
    given_up: true,
    failed: true,
  }),
  'coordinator_lock_lost_total reason': LEASE_ENDS,
  'coordinator_lock_hold_seconds end': LEASE_ENDS,
};

/** The values that a label of a metric may have; undefined where the code does not say. */
export function valuesOf(metric: string, label: string): readonly string[] | undefined {
  return VALUES[`${metric} ${label}`];
}
