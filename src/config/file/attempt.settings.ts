import { formatDuration, parseDuration } from '../duration.js';
import type { Faults } from '../faults.js';
import type { AttemptSettings } from '../settings.js';
import type { AttemptsFile } from './attempts.file.js';

const USUAL_PER_DEPLOYMENT = 2;

/** The rules in plain numbers; what contradicts itself is noted. The section must be without faults. */
export function attemptSettings(file: AttemptsFile, faults: Faults): AttemptSettings {
  const { perRequest, perDeployment = Math.min(USUAL_PER_DEPLOYMENT, perRequest) } = file;
  const firstBackoffMs = parseDuration(file.firstBackoffMs);
  const longestBackoffMs = parseDuration(file.longestBackoffMs);
  if (perDeployment > perRequest)
    faults.add('attempts.perDeployment', 'must be at most perRequest, which is for all of them');
  if (firstBackoffMs > longestBackoffMs)
    faults.add('attempts.firstBackoffMs', `must be at most longestBackoffMs, ${formatDuration(longestBackoffMs)}`);
  return { perRequest, perDeployment, firstBackoffMs, longestBackoffMs, patienceMs: parseDuration(file.patienceMs) };
}
