import { nearest } from '../nearest.js';
import type { Environment } from './environment.reader.js';
import { isServiceLink } from './redis.parsers.js';

/** Prefixes that only this service uses: any unknown variable with one of them is a slip. */
const OURS = ['HOLYSHEEP_', 'CALLER_', 'REDIS_SENTINEL_', 'REDIS_CLUSTER_', 'REDIS_TLS_'];
/** What container platforms put beside a Service of that name. */
const INJECTED = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;
const MODES = ['production', 'development', 'test'];

/**
 * What an operator should look at in the environment. A variable that looks misspelt is a notice, never a fault: an
 * environment belongs to the whole machine, and stopping for somebody else's variable would be worse than a line in the log.
 */
export function environmentNotices(environment: Environment, knownNames: readonly string[]): readonly string[] {
  const notices = Object.keys(environment).flatMap((name) => misspelling(name, knownNames) ?? []);
  if (isServiceLink(environment['REDIS_PORT'])) {
    notices.push('REDIS_PORT is a service link that Kubernetes has set, not a port: 6379 is used');
  }
  const mode = environment['NODE_ENV']?.trim() ?? '';
  if (mode !== '' && !MODES.includes(mode)) {
    notices.push(
      `NODE_ENV is not "production": the stricter rules of production do not apply (known are ${MODES.join(', ')})`,
    );
  }
  return notices;
}

function misspelling(name: string, known: readonly string[]): string | undefined {
  const prefix = /^[A-Z]+_/i.exec(name)?.[0].toUpperCase();
  if (prefix === undefined || known.includes(name) || INJECTED.test(name)) return undefined;
  const isOurs = OURS.some((own) => name.toUpperCase().startsWith(own));
  const relatives = known.filter((candidate) => candidate.startsWith(prefix));
  const meant = nearest(name, relatives, isOurs ? Number.POSITIVE_INFINITY : 2);
  return meant === undefined
    ? undefined
    : `${name} is not a variable of this service and is ignored: did you mean ${meant}?`;
}
