import { parseDuration } from '../duration.js';
import type { Faults } from '../faults.js';
import type { LimitSettings, WindowSettings } from '../limits.js';
import type { LimitsFile } from './limits.file.js';
import { plain } from './shape.js';

const MINUTE_MS = 60_000;
/** Each window is a calendar of its own in the store. */
const MOST_WINDOWS = 3;

/** Limits in plain numbers; windows that limit nothing, or the same stretch twice, are noted. The section must be without faults. */
export function limitSettings(file: LimitsFile, path: string, faults: Faults): LimitSettings {
  const { windows: slices, ...limits } = plain(file);
  if (slices.length === 0) return limits;
  const windows = slices.map((slice) => Object.assign(plain(slice), { windowMs: parseDuration(slice.windowMs) }));
  const hasMinute = limits.rpm !== undefined || limits.tpm !== undefined;
  if (windows.length + (hasMinute ? 1 : 0) > MOST_WINDOWS)
    faults.add(`${path}.windows`, `must be at most ${String(MOST_WINDOWS)}, with the minute of rpm and tpm`);
  checkWindows(windows, hasMinute ? [MINUTE_MS] : [], (at, fault) => {
    faults.add(`${path}.windows[${String(at)}]`, fault);
  });
  return { ...limits, windows };
}

function checkWindows(
  windows: readonly WindowSettings[],
  taken: readonly number[],
  note: (at: number, fault: string) => void,
): void {
  const lengths = [...taken];
  windows.forEach(({ windowMs, requests, tokens }, at) => {
    if (requests === undefined && tokens === undefined) note(at, 'must limit requests, tokens or both');
    if (lengths.includes(windowMs)) note(at, 'a window of this length is limited already');
    lengths.push(windowMs);
  });
}
