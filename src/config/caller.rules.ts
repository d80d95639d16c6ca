import type { BootContext } from './boot-context.js';
import { HOW_TO_MAKE_A_KEY, SHORTEST_STRONG_KEY, type CallerKey } from './caller-keys.js';
import { SERVER_VARIABLES as SERVER } from './environment/server.variables.js';
import type { Faults } from './faults.js';
import type { CallerFile } from './file/caller.file.js';
import { limitSettings } from './file/limit.settings.js';
import { plain } from './file/shape.js';
import { isLoopback } from './loopback.js';
import type { CallerSettings, Tier } from './settings.js';

const WEIGHTS: Readonly<Record<Tier, number>> = { free: 1, pro: 2, enterprise: 4 };

/**
 * Everybody who may call, from the file and from CALLER_KEYS; names and keys are unique. None at all means that anyone on
 * this machine may, which is a fault on any other address.
 */
export function callerSettings(files: readonly CallerFile[], context: BootContext): readonly CallerSettings[] {
  const keys = context.reader.value(SERVER.callerKeys) ?? [];
  keys.forEach(({ isWeak }, index) => {
    if (isWeak) noteWeakKey(`CALLER_KEYS[${String(index)}]`, context);
  });
  const callers = [
    ...files.map((file, index) => fromFile(file, index, context.faults)),
    ...keys.map((key, index) => fromKey(key, index)),
  ];
  checkUnique(callers, context);
  if (callers.length === 0) noteNoCallers(context);
  return callers.map(({ settings }) => settings);
}

interface Found {
  readonly settings: CallerSettings;
  /** Where its name and its key stand. */
  readonly namePath: string;
  readonly keyPath: string;
}

function fromFile(file: CallerFile, index: number, faults: Faults): Found {
  const path = `callers[${String(index)}]`;
  const settings = {
    name: file.name,
    keySha256: file.keySha256.toLowerCase(),
    tier: file.tier,
    weight: file.weight ?? WEIGHTS[file.tier],
    scopes: file.scopes,
    limits: limitSettings(file.limits, `${path}.limits`, faults),
    ...(file.cacheGroup === undefined ? {} : { cacheGroup: file.cacheGroup }),
    ...(file.budget === undefined ? {} : { budget: plain(file.budget) }),
  };
  return { settings, namePath: `${path}.name`, keyPath: `${path}.keySha256` };
}

function fromKey({ name, tier, keySha256 }: CallerKey, index: number): Found {
  const settings: CallerSettings = { name, keySha256, tier, weight: WEIGHTS[tier], scopes: ['chat'], limits: {} };
  const path = `CALLER_KEYS[${String(index)}]`;
  return { settings, namePath: path, keyPath: path };
}

function checkUnique(callers: readonly Found[], { faults }: BootContext): void {
  const names = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const { settings, namePath, keyPath } of callers) {
    const sameName = names.get(settings.name);
    const sameKey = keys.get(settings.keySha256);
    if (sameName === undefined) names.set(settings.name, namePath);
    else faults.add(namePath, `this name is taken by ${sameName}`);
    if (sameKey === undefined) keys.set(settings.keySha256, keyPath);
    else faults.add(keyPath, `this key is the key of ${sameKey} already`);
  }
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
