import { isObject, type JsonObject } from '../request/json.checks.js';
import { ProviderError } from '../provider.error.js';
import { ENDPOINTS, type Script, type ScriptedBehaviour, type ScriptTarget } from './script.js';

type Check = (value: unknown) => string | undefined;

const is =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : expected;

const wholeFrom = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  is(
    `a whole number from ${String(least)}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${String(most)}`}`,
    (value) => {
      return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
    },
  );
const text = is('a string', (value) => typeof value === 'string');
const flag = is('a boolean', (value) => typeof value === 'boolean');
const milliseconds = wholeFrom(0, 3_600_000);
const anything: Check = () => undefined;

const TARGET_CHECKS: Readonly<Record<keyof ScriptTarget, Check>> = {
  endpoint: is(`one of ${ENDPOINTS.join(', ')}`, (value) => ENDPOINTS.some((each) => each === value)),
  model: text,
  contains: text,
  keyEndsWith: text,
  share: is('a number above 0, at most 1', (value) => typeof value === 'number' && value > 0 && value <= 1),
};

const BEHAVIOUR_CHECKS: Readonly<Record<keyof ScriptedBehaviour, Check>> = {
  delayMs: milliseconds,
  reset: flag,
  neverAnswer: flag,
  status: wholeFrom(200, 599),
  body: anything,
  garbageBody: flag,
  headers: is(
    'an object of strings',
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
  ),
  text,
  usage: is('an object or null', (value) => value === null || isObject(value)),
  frames: is('an array of strings', (value) => Array.isArray(value) && value.every((each) => typeof each === 'string')),
  earlyHead: flag,
  comments: flag,
  cutAfterFrames: wholeFrom(0),
  endAfterFrames: wholeFrom(0),
  garbageAfterFrames: wholeFrom(0),
  errorAfterFrames: wholeFrom(0),
  error: is('an object', isObject),
  stallAfterFrames: wholeFrom(0),
  stallMs: milliseconds,
  crlf: flag,
  bytewise: flag,
  drip: is('{"bytes": from 1, "everyMs": from 0}', (value) => {
    return (
      isObject(value) && wholeFrom(1)(value['bytes']) === undefined && milliseconds(value['everyMs']) === undefined
    );
  }),
  splitAt: wholeFrom(0),
};

const times = is(
  'a whole number from 1, or "always"',
  (value) => value === 'always' || wholeFrom(1)(value) === undefined,
);
const CHECKS: Readonly<Record<string, Check>> = { ...TARGET_CHECKS, ...BEHAVIOUR_CHECKS, times };

/**
 * One script or an array of them. `times` is 1 by default, with `share` "always".
 * @throws ProviderError 400 that names every fault at once.
 */
export function parseScripts(value: unknown): readonly Script[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const faults = list.flatMap((each, index) => {
    const place = Array.isArray(value) ? `[${String(index)}].` : '';
    return isObject(each) ? faultsOf(each).map((fault) => `${place}${fault}`) : [`${place}script: must be an object`];
  });
  if (faults.length > 0) {
    throw new ProviderError(400, faults.join('; '), { code: 'invalid_script' });
  }
  return list.filter(isObject).map(toScript);
}

function faultsOf(script: JsonObject): readonly string[] {
  const faults = Object.entries(script).flatMap(([key, value]) => {
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key] : undefined;
    if (check === undefined) {
      return [`${key}: unknown; known are ${Object.keys(CHECKS).join(', ')}`];
    }
    const expected = check(value);
    return expected === undefined ? [] : [`${key}: must be ${expected}`];
  });
  const hasBody = script['body'] !== undefined || script['garbageBody'] === true;
  if (typeof script['status'] === 'number' && script['status'] < 400 && !hasBody) {
    faults.push('status: below 400 it needs a body');
  }
  return faults;
}

function toScript(script: JsonObject): Script {
  const { times: given = script['share'] === undefined ? 1 : 'always' } = script;
  const target = { endpoint: 'chat', ...pick(script, TARGET_CHECKS) };
  const behaviour = pick(script, BEHAVIOUR_CHECKS);
  // Every member has passed its check above.
  return {
    target: target as ScriptTarget,
    behaviour,
    ...(typeof given === 'number' && { times: given }),
  };
}

function pick(script: JsonObject, keys: object): JsonObject {
  return Object.fromEntries(Object.entries(script).filter(([key]) => Object.hasOwn(keys, key)));
}
