/** What a process and its children have used, read from Linux' /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** CPU time so far of a process, its threads and its children, in microseconds; nanosecond clock of the scheduler. */
export function cpuMicros(pid) {
  let nanos = 0;
  for (const member of family(pid)) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      nanos += Number(readFileSync(`/proc/${member}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return nanos / 1000;
}

/** Resident memory of a process and its children, in MB. */
export function residentMb(pid) {
  const kilobytes = family(pid).map((member) =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${member}/status`, 'utf8'))?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

function family(pid) {
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '))
    .filter((child) => child !== '');
  return [String(pid), ...children.flatMap(family)];
}
