import { inspect } from 'node:util';
import type { ScopeRules } from './admission.rules.js';
import type {
  AcquireAnswer,
  AdmissionMessage,
  BeatAnswer,
  Booking,
  CancelAnswer,
  Notice,
  Place,
  Rule,
  ScopeNews,
  ScopeState,
  SettleAnswer,
  WindowUsage,
} from './admission.store.js';
import { periodEnd } from './budget.period.js';

const SETTLED = new Map<unknown, SettleAnswer['kind']>([
  [1, 'settled'],
  [0, 'gone'],
  [-1, 'waiting'],
]);
const CANCELLED = new Map<unknown, CancelAnswer['kind']>([
  [2, 'granted'],
  [1, 'waiting'],
  [0, 'unknown'],
]);

export function readAcquire(rules: ScopeRules, reply: unknown): AcquireAnswer {
  const values = new ReplyReader('acquire', reply);
  const news = readNews(values, rules);
  const kind = values.integer();
  const number = values.integer();
  const name = values.text();
  const isExact = values.integer() === 1;
  const usage = readUsage(values, rules);
  values.end();
  if (kind === 1) return { kind: 'granted', atMs: number, usage, ...news };
  if (kind === -3) return { kind: 'cancelled', ...news };
  const rule = ruleOf(name, rules, usage);
  if (kind === 0) return { kind: 'waiting', inMs: number, rule, usage, ...news };
  if (rule === undefined) throw values.fault(name);
  if (kind === -2) return { kind: 'never', inMs: 0, rule, isExact: true, usage, ...news };
  if (kind !== -1) throw values.fault(kind);
  // A period's end is known here as well as there.
  const inMs = number < 0 && rule.kind === 'budget' ? periodEnd(rule.period, news.nowMs) - news.nowMs : number;
  return { kind: 'refused', inMs, rule, isExact, usage, ...news };
}

export function readSettle(rules: ScopeRules, reply: unknown): SettleAnswer {
  const values = new ReplyReader('settle', reply);
  const news = readNews(values, rules);
  return { kind: values.last(SETTLED), ...news };
}

export function readCancel(rules: ScopeRules, reply: unknown): CancelAnswer {
  const values = new ReplyReader('cancel', reply);
  const news = readNews(values, rules);
  return { kind: values.last(CANCELLED), ...news };
}

export function readBeat(rules: ScopeRules, count: number, reply: unknown): BeatAnswer {
  const values = new ReplyReader('beat', reply);
  const news = readNews(values, rules);
  const places = Array.from({ length: count }, () => placeOf(values.integer()));
  values.end();
  return { ...news, places };
}

/** Of hold and learn. */
export function readPlain(script: string, rules: ScopeRules, reply: unknown): ScopeNews {
  const values = new ReplyReader(script, reply);
  const news = readNews(values, rules);
  values.end();
  return news;
}

export function readInspect(rules: ScopeRules, reply: unknown): ScopeState {
  const values = new ReplyReader('inspect', reply);
  const nowMs = values.integer();
  const [open, queued] = [values.integer(), values.integer()];
  const reserved = { microUsd: values.integer(), tokens: values.integer() };
  const heldForMs = values.integer();
  const budgets = rules.budgets.map((budget) => ({
    ...budget,
    spent: values.integer(),
    endsAtMs: periodEnd(budget.period, nowMs),
  }));
  const windows = readUsage(values, rules);
  values.end();
  return { nowMs, windows, open, concurrency: rules.concurrency, queued, reserved, budgets, heldForMs };
}

/** now|id=at,...|name of the scope as JSON; undefined for anything else that somebody published. */
export function readMessage(text: string): AdmissionMessage | undefined {
  const [, now, list = '', name = ''] = /^(\d+)\|([^|]*)\|(".*")$/s.exec(text) ?? [];
  if (now === undefined) return undefined;
  const notices = list.split(',').flatMap((entry) => {
    const [, id = '', at] = /^([\w.-]+)=(-?\d+)$/.exec(entry) ?? [];
    return at === undefined ? [] : [noticeOf(id, Number(at))];
  });
  return { scope: String(JSON.parse(name)), nowMs: Number(now), notices };
}

export function noticeOf(id: string, at: number): Notice {
  return at < 0 ? { kind: 'lapsed', id } : { kind: 'granted', id, atMs: at };
}

/** As the scripts name it: `tokens:60000`, `usd:day`, `slots`, `hold`. Limits are those in force. */
export function ruleOf(name: string, rules: ScopeRules, usage: readonly WindowUsage[]): Rule | undefined {
  if (name === 'hold') return { kind: 'hold' };
  if (name === 'slots')
    return rules.concurrency === undefined ? undefined : { kind: 'slots', limit: rules.concurrency };
  const budget = rules.budgets.find(({ unit, period }) => name === `${unit}:${period}`);
  if (budget !== undefined) return { kind: 'budget', ...budget };
  return windowRuleOf(name, usage);
}

function windowRuleOf(name: string, usage: readonly WindowUsage[]): Rule | undefined {
  const [kind, windowMs] = name.split(':');
  if (kind !== 'requests' && kind !== 'tokens') return undefined;
  const window = usage.find((each) => String(each.windowMs) === windowMs);
  const limit = kind === 'requests' ? window?.requestLimit : window?.tokenLimit;
  return window === undefined || limit === undefined ? undefined : { kind, windowMs: window.windowMs, limit };
}

function readNews(values: ReplyReader, rules: ScopeRules): ScopeNews {
  const nowMs = values.integer();
  const pumpInMs = values.limit();
  const notices = Array.from({ length: values.integer() }, () => noticeOf(values.text(), values.integer()));
  const booked = values.integer();
  if (booked !== 0 && booked !== rules.budgets.length) throw values.fault(booked);
  const bookings: Booking[] = rules.budgets
    .slice(0, booked)
    .map((budget) => ({ spentBefore: values.integer(), spentAfter: values.integer(), ...budget }));
  return { nowMs, pumpInMs, notices, bookings };
}

function readUsage(values: ReplyReader, { windows }: ScopeRules): readonly WindowUsage[] {
  return windows.map(({ windowMs }) => ({
    windowMs,
    requests: values.integer(),
    requestLimit: values.limit(),
    tokens: values.integer(),
    tokenLimit: values.limit(),
  }));
}

function placeOf(number: number): Place {
  if (number > 0) return { kind: 'granted', atMs: number };
  return number === 0 ? { kind: 'waiting' } : { kind: 'gone' };
}

/** A script answered what it can't: what it met in the store is damaged. */
export class AdmissionReplyError extends TypeError {
  override readonly name = 'AdmissionReplyError';
  readonly isRetryable = false;
}

/** Takes a script's flat reply apart, value by value. Every method throws an AdmissionReplyError where the script answered something else. */
class ReplyReader {
  private readonly values: readonly unknown[];
  private position = 0;

  constructor(
    private readonly script: string,
    reply: unknown,
  ) {
    if (!Array.isArray(reply)) throw this.fault(reply);
    this.values = reply;
  }

  integer(): number {
    const value = this.next();
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.fault(value);
    return value;
  }

  /** A number; -1 says that there is none. */
  limit(): number | undefined {
    const value = this.integer();
    return value === -1 ? undefined : value;
  }

  text(): string {
    const value = this.next();
    if (typeof value !== 'string') throw this.fault(value);
    return value;
  }

  last<Answer>(answers: ReadonlyMap<unknown, Answer>): Answer {
    const sign = this.next();
    const answer = answers.get(sign);
    if (answer === undefined) throw this.fault(sign);
    this.end();
    return answer;
  }

  end(): void {
    if (this.position !== this.values.length) throw this.fault(this.values);
  }

  fault(value: unknown): AdmissionReplyError {
    return new AdmissionReplyError(`${this.script}.lua answered ${inspect(value)} where that cannot be`);
  }

  private next(): unknown {
    const value = this.values[this.position];
    this.position += 1;
    return value;
  }
}
