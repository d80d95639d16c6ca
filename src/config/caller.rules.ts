import type { BootContext } from './boot-context.js';
import type { CallerSettings, KeySettings, Tier } from './caller.settings.js';
import { HOW_TO_MAKE_A_KEY, SHORTEST_STRONG_KEY, type CallerKey, type FaultyKey } from './caller-keys.js';
import { SERVER_VARIABLES as SERVER } from './environment/server.variables.js';
import type { Faults } from './faults.js';
import type { BudgetFile } from './file/budget.file.js';
import type { BudgetSettings } from './limits.js';
import type { CallerFile } from './file/caller.file.js';
import { limitSettings } from './file/limit.settings.js';
import { plain } from './file/shape.js';
import { parseInstant } from './instant.js';
import { isLoopback } from './loopback.js';

const WEIGHTS: Readonly<Record<Tier, number>> = { free: 1, pro: 2, enterprise: 4 };

/** Before a key ends the operator is told at every boot for so long. */
const WARNING_MS = 14 * 86_400_000;

/**
 * Everybody who may call, from the file and from CALLER_KEYS; names and keys are unique. None at all means that anyone on
 * this machine may, which is a fault on any other address.
 *
 * @param withTokens names of callers that need no key, since an issuer's tokens speak for them
 */
export function callerSettings(
  files: readonly CallerFile[],
  withTokens: ReadonlySet<string>,
  context: BootContext,
): readonly CallerSettings[] {
  const entries = usable(context.reader.value(SERVER.callerKeys) ?? [], context);
  const callers = [...files.map((file, index) => fromFile(file, index, context.faults)), ...fromKeys(entries)];
  checkUnique(callers, context);
  for (const { settings, namePath, keys: found } of callers) {
    if (found.length === 0 && !withTokens.has(settings.name))
      context.faults.add(
        namePath.replace(/name$/, 'keySha256'),
        'is required: a caller has a key, keys, or an issuer that names it',
      );
    for (const key of found) noteEnd(settings.name, key, context);
  }
  if (callers.length === 0) noteNoCallers(context);
  return callers.map(({ settings }) => settings);
}

interface Found {
  readonly settings: CallerSettings;
  /** Where its name stands. */
  readonly namePath: string;
  readonly keys: readonly FoundKey[];
}

/** A key and where it stands. */
interface FoundKey extends KeySettings {
  readonly path: string;
}

function fromFile(file: CallerFile, index: number, faults: Faults): Found {
  const path = `callers[${String(index)}]`;
  const keys = keysIn(file, path, faults);
  const settings = {
    name: file.name,
    keys: keys.map(withoutPath),
    tier: file.tier,
    weight: file.weight ?? WEIGHTS[file.tier],
    scopes: file.scopes,
    limits: limitSettings(file.limits, `${path}.limits`, faults),
    ...(file.origins === undefined ? {} : { origins: file.origins }),
    ...(file.cacheGroup === undefined ? {} : { cacheGroup: file.cacheGroup }),
    ...(file.budget === undefined ? {} : { budget: budgetSettings(file.budget, `${path}.budget`, faults) }),
  };
  return { settings, namePath: `${path}.name`, keys };
}

/** A budget that limits nothing is none, and may be a slip. */
function budgetSettings(file: BudgetFile, path: string, faults: Faults): BudgetSettings {
  const { hard, ...amounts } = plain(file);
  if (Object.keys(amounts).length === 0) faults.add(path, 'must limit USD or tokens, by the day or by the month');
  return { ...amounts, hard };
}

function keysIn({ keySha256, keys }: CallerFile, path: string, faults: Faults): readonly FoundKey[] {
  const first = keySha256 === undefined ? [] : [{ path: `${path}.keySha256`, sha256: keySha256.toLowerCase() }];
  const others = keys.map(({ sha256, notBefore, expires }, index) => {
    const at = `${path}.keys[${String(index)}]`;
    const key = {
      path: `${at}.sha256`,
      sha256: sha256.toLowerCase(),
      ...(notBefore !== undefined && { notBefore: parseInstant(notBefore) }),
      ...(expires !== undefined && { expires: parseInstant(expires) }),
    };
    if (key.notBefore !== undefined && key.expires !== undefined && key.expires <= key.notBefore)
      faults.add(`${at}.expires`, 'must be later than notBefore');
    return key;
  });
  return [...first, ...others];
}

/** An entry of `CALLER_KEYS`, and where it stands. */
interface KeyEntry extends CallerKey {
  readonly path: string;
}

/** All but those with a fault, which is noted. */
function usable(keys: readonly (CallerKey | FaultyKey)[], context: BootContext): readonly KeyEntry[] {
  return keys.flatMap((key, index) => {
    const path = `CALLER_KEYS[${String(index)}]`;
    if ('fault' in key) {
      context.faults.add(path, key.fault);
      return [];
    }
    if (key.isWeak) noteWeakKey(path, context);
    return [{ ...key, path }];
  });
}

/** A name that comes again with the same tier has one more key: the old and the new one of a rotation. */
function fromKeys(entries: readonly KeyEntry[]): readonly Found[] {
  const found: Found[] = [];
  for (const { name, tier, keySha256, path } of entries) {
    const key = { path, sha256: keySha256 };
    const place = found.findIndex(({ settings }) => settings.name === name && settings.tier === tier);
    const known = found[place];
    const keys = [...(known?.keys ?? []), key];
    const settings: CallerSettings = {
      name,
      keys: keys.map(withoutPath),
      tier,
      weight: WEIGHTS[tier],
      scopes: ['chat'],
      limits: {},
    };
    if (known === undefined) found.push({ settings, namePath: path, keys });
    else found[place] = { settings, namePath: known.namePath, keys };
  }
  return found;
}

function withoutPath({ sha256, notBefore, expires }: FoundKey): KeySettings {
  return { sha256, ...(notBefore !== undefined && { notBefore }), ...(expires !== undefined && { expires }) };
}

function checkUnique(callers: readonly Found[], { faults }: BootContext): void {
  const names = new Map<string, string>();
  const paths = new Map<string, string>();
  for (const { settings, namePath, keys } of callers) {
    const sameName = names.get(settings.name);
    if (sameName === undefined) names.set(settings.name, namePath);
    else faults.add(namePath, `this name is taken by ${sameName}`);
    for (const { sha256, path } of keys) {
      const sameKey = paths.get(sha256);
      if (sameKey === undefined) paths.set(sha256, path);
      else faults.add(path, `this key is the key of ${sameKey} already`);
    }
  }
}

/** A key that ends is no fault: the other callers want their server. */
function noteEnd(name: string, { path, expires }: FoundKey, { notices, now }: BootContext): void {
  if (expires === undefined || expires > now + WARNING_MS) return;
  const when = new Date(expires).toISOString();
  notices.push(
    expires <= now ? `${path}: this key of ${name} ended at ${when}` : `${path}: this key of ${name} ends at ${when}`,
  );
}

/** By its number, not by its name: whoever mixes up the order has put the key in the name's place. */
function noteWeakKey(path: string, { faults, notices, isProduction }: BootContext): void {
  const message = `must have a key of at least ${String(SHORTEST_STRONG_KEY)} characters, such as: ${HOW_TO_MAKE_A_KEY}`;
  if (isProduction) faults.add(path, message);
  else notices.push(`${path}: ${message}`);
}

function noteNoCallers({ reader, faults, notices }: BootContext): void {
  // A value that was refused is a fault of its own, not an absence.
  if (reader.isSet('CALLER_KEYS')) return;
  const host = reader.value(SERVER.host);
  if (isLoopback(host)) {
    notices.push(
      `no callers are configured: everybody on this machine is "anonymous" with every right, and only loopback is listened to; a first key: ${HOW_TO_MAKE_A_KEY}`,
    );
  } else {
    faults.add(
      'HOST',
      `${host} can be reached from other machines, but no callers are configured: make a key with  ${HOW_TO_MAKE_A_KEY}  or listen on 127.0.0.1`,
    );
  }
}
