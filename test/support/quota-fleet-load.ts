import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QuotaFleet } from './quota-fleet.js';

/** Calls at a time, each followed by the next. */
export interface LoadedCaller {
  readonly name: string;
  readonly lanes: number;
}

export interface FleetLoad {
  readonly model: string;
  readonly callers: readonly LoadedCaller[];
  /** Further members of the bodies. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** One call that had an end while the load went on. */
export interface LoadedCall {
  readonly caller: string;
  readonly pod: number;
  /** Monotonic, ms. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** 0: the connection ended without an answer. */
  readonly status: number;
  /** The error's, of the connection where there was no answer; empty for an answer. */
  readonly code: string;
  /** What a refusal says of when to come again. */
  readonly retryAfter?: string | undefined;
}

/** Whoever is refused, or loses the connection, tries again after so long, ms. */
const AGAIN_MS = 100;

/**
 * Keeps a fleet busy until the signal aborts; the lanes of each caller are spread over all pods. Calls that are cut off then are left out.
 *
 * @param calls what has ended so far
 */
export async function loadFleet(
  fleet: Pick<QuotaFleet, 'ask'>,
  { model, callers, body = {} }: FleetLoad,
  until: AbortSignal,
  calls: LoadedCall[] = [],
): Promise<readonly LoadedCall[]> {
  setMaxListeners(0, until);
  const one = async (caller: string, pod: number): Promise<LoadedCall> => {
    // A signal of its own: those of all calls would stay on one for as long as it lives.
    const leaving = new AbortController();
    const leave = (): void => {
      leaving.abort();
    };
    until.addEventListener('abort', leave);
    const sentAt = performance.now();
    const end = await fleet
      .ask({ model, caller, pod, body, signal: leaving.signal })
      .then(endOf)
      .catch((error: unknown) => ({ status: 0, code: connectionCode(error), retryAfter: undefined }));
    until.removeEventListener('abort', leave);
    return { caller, pod, sentAt, endedAt: performance.now(), ...end };
  };
  const isOver = (): boolean => until.aborted;
  const lane = async (caller: string, pod: number): Promise<void> => {
    while (!isOver()) {
      const call = await one(caller, pod);
      if (isOver()) return;
      calls.push(call);
      if (call.status !== 200) await sleep(AGAIN_MS);
    }
  };
  const lanes = callers.flatMap(({ name, lanes: count }) =>
    Array.from({ length: count }, (_, index) => lane(name, index)),
  );
  await Promise.all(lanes);
  return calls;
}

async function endOf(response: Response): Promise<Pick<LoadedCall, 'status' | 'code' | 'retryAfter'>> {
  const text = await response.text();
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  if (response.status === 200) return { status: 200, code: '', retryAfter };
  const { error } = JSON.parse(text) as { error: { code: string } };
  return { status: response.status, code: error.code, retryAfter };
}

/** By its members: Jest's errors and Node's own are not of one class. */
function connectionCode(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code ?? '';
}

/** How many ended between two moments, of each caller. */
export function sharesOf(calls: readonly LoadedCall[], from: number, to: number): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { caller, status, endedAt } of calls) {
    if (status !== 200 || endedAt < from || endedAt >= to) continue;
    shares.set(caller, (shares.get(caller) ?? 0) + 1);
  }
  return shares;
}

/** The calls that a later one of their caller has overtaken by more than that: sent after them, answered before them. */
export function overtaken(calls: readonly LoadedCall[], byMs: number): readonly LoadedCall[] {
  const answered = calls.filter(({ status }) => status === 200);
  const overtakes = (late: LoadedCall, early: LoadedCall): boolean =>
    late.caller === early.caller && late.sentAt - early.sentAt > byMs && early.endedAt - late.endedAt > byMs;
  return answered.filter((early) => answered.some((late) => overtakes(late, early)));
}
