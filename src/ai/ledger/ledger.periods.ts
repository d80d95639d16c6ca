/** A day or a month of UTC: `2026-11-29` or `2026-11`. */
export type PeriodName = string;

export interface Period {
  readonly name: PeriodName;
  /** Unix ms of its first moment, and of the next one's. */
  readonly start: number;
  readonly end: number;
}

export function dayOf(at: number): Period {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period(date.toISOString().slice(0, 10), Date.UTC(year, month, day), Date.UTC(year, month, day + 1));
}

export function monthOf(at: number): Period {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return period(date.toISOString().slice(0, 7), Date.UTC(year, month), Date.UTC(year, month + 1));
}

function period(name: PeriodName, start: number, end: number): Period {
  return { name, start, end };
}
