import { inspect } from 'node:util';
import { unescapeText } from './lock.keys.js';
import type { AcquireAnswer, BeatAnswer, BeatCommand, LeaveAnswer, LockState, WaiterAnswer } from './lock.store.js';

const LEAVE_ANSWERS: readonly LeaveAnswer[] = ['unknown', 'waiter', 'holder'];
const RENEWAL_ANSWERS = new Map<number, BeatAnswer['renewals'][number]>([
  [1, 'renewed'],
  [0, 'gone'],
  [-1, 'revoked'],
]);
const STATES = new Map<string, LockState['holders'][number]['state']>([
  ['p', 'granted'],
  ['h', 'held'],
  ['v', 'revoked'],
  ['r', 'released'],
]);
const NUMBERS_PER_WAITER = 3;

export function readAcquire(reply: unknown): AcquireAnswer {
  const values = new ReplyReader('acquire', reply);
  const kind = values.integer();
  switch (kind) {
    case 1:
      return { kind: 'granted', fence: values.integer() };
    case 0:
      return { kind: 'queued', ticket: values.integer(), counter: values.integer(), nextExpiryMs: values.expiry() };
    case -1:
      return { kind: 'busy', counter: values.integer(), nextExpiryMs: values.expiry() };
    case -2:
      return { kind: 'buried' };
    case -3:
      return { kind: 'revoked' };
    default:
      throw values.fault(kind);
  }
}

export function readBeat(command: BeatCommand, reply: unknown): BeatAnswer {
  const values = new ReplyReader(
    'beat',
    reply,
    2 + command.renewals.length + NUMBERS_PER_WAITER * command.waiters.length,
  );
  const counter = values.integer();
  const nextExpiryMs = values.expiry();
  const renewals = command.renewals.map(() => values.oneOf(RENEWAL_ANSWERS, values.integer()));
  const waiters = command.waiters.map(() => readWaiter(values));
  return { counter, nextExpiryMs, renewals, waiters };
}

export function readLeave(reply: unknown): LeaveAnswer {
  const values = new ReplyReader('leave', [reply]);
  const number = values.integer();
  const answer = LEAVE_ANSWERS[number];
  if (answer === undefined) throw values.fault(number);
  return answer;
}

export function readRevoke(reply: unknown): number {
  return new ReplyReader('revoke', [reply]).integer();
}

export function readInspect(key: string, reply: unknown): LockState | undefined {
  const values = new ReplyReader('inspect', reply);
  if (values.isEmpty()) return undefined;
  const capacity = values.integer();
  const used = values.integer();
  const queued = values.integer();
  const holders = Array.from({ length: values.integer() }, () => readHolder(values));
  const waiters: LockState['waiters'][number][] = [];
  while (!values.isEmpty()) {
    const token = values.text();
    waiters.push({ token, ticket: values.integer(), process: values.text(), description: values.text() });
  }
  return { key, capacity, used, queued, holders, waiters };
}

function readWaiter(values: ReplyReader): WaiterAnswer {
  const kind = values.integer();
  const number = values.integer();
  const leftMs = values.integer();
  if (kind === 0) return { kind: 'queued', ticket: number };
  if (kind === 1) return { kind: 'granted', fence: number, leftMs };
  if (kind === -1) return { kind: 'gone' };
  throw values.fault(kind);
}

function readHolder(values: ReplyReader): LockState['holders'][number] {
  const token = values.text();
  const state = values.oneOf(STATES, values.raw());
  const weight = values.integer();
  const fence = values.integer();
  return {
    token,
    fence,
    weight,
    process: values.text(),
    description: values.text(),
    leaseLeftMs: values.integer(),
    state,
  };
}

/** A script answered what it can't: what it met in the store is damaged, and it meets it again. */
export class LockReplyError extends TypeError {
  override readonly name = 'LockReplyError';
  readonly isRetryable = false;
}

/** Takes a script's flat reply apart, value by value. Every method throws a LockReplyError where the script answered something else. */
class ReplyReader {
  private readonly values: readonly unknown[];
  private position = 0;

  constructor(
    private readonly script: string,
    reply: unknown,
    length?: number,
  ) {
    if (!Array.isArray(reply) || (length !== undefined && reply.length !== length)) throw this.fault(reply);
    this.values = reply;
  }

  isEmpty(): boolean {
    return this.position >= this.values.length;
  }

  integer(): number {
    const value = this.next();
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.fault(value);
    return value;
  }

  /** Milliseconds; -1 says that there is none. */
  expiry(): number | undefined {
    const milliseconds = this.integer();
    return milliseconds === -1 ? undefined : milliseconds;
  }

  raw(): string {
    const value = this.next();
    if (typeof value !== 'string') throw this.fault(value);
    return value;
  }

  /** A name or description of a user, as it was given. */
  text(): string {
    return unescapeText(this.raw());
  }

  oneOf<Sign, Answer>(answers: ReadonlyMap<Sign, Answer>, sign: Sign): Answer {
    const answer = answers.get(sign);
    if (answer === undefined) throw this.fault(sign);
    return answer;
  }

  fault(value: unknown): LockReplyError {
    return new LockReplyError(`${this.script}.lua answered ${inspect(value)} where that cannot be`);
  }

  private next(): unknown {
    const value = this.values[this.position];
    this.position += 1;
    return value;
  }
}
