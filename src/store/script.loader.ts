import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { headerFaults, parseHeader } from './script.header.js';
import type { Script } from './store.js';

/** A file of this name holds a module's own functions; it is put in front of each of its scripts, and then its parts `prelude.….lua`. */
export const PRELUDE_NAME = 'prelude';

/** Where now() takes the time from: the server, or in tests a key that holds microseconds. */
export type ScriptClock = 'server' | { readonly key: string };

export interface LoadOptions {
  /** Default `server`. Never anything else in production. */
  readonly clock?: ScriptClock;
}

/**
 * Reads a module's `.lua` files, which lie in a folder beside it, at start. Each script sees `now()`: microseconds of the
 * server's clock as a number, exact up to 2^53.
 *
 * @param folder ends in a slash
 * @param names the files without `.lua`: all there are but the prelude, so that none is forgotten
 * @throws {Error} where files and names differ, or a header is not what its script does
 * @example
 * const scripts = loadScripts(new URL('./scripts/', import.meta.url), ['acquire', 'leave']);
 * await store.run(scripts.acquire, [key], [token]);
 */
export function loadScripts<Name extends string>(
  folder: URL,
  names: readonly Name[],
  { clock = 'server' }: LoadOptions = {},
): Readonly<Record<Name, Script>> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => basename(file, '.lua'));
  checkNames(folder, files, names);
  const read = (name: string): string => readFileSync(new URL(`${name}.lua`, folder), 'utf8');
  const prelude = files.filter(isPrelude).sort().map(read).join('\n');
  const scripts: Partial<Record<Name, Script>> = {};
  for (const name of names) scripts[name] = parseScript(name, read(name), { prelude, clock });
  if (!isComplete(scripts, names)) throw new Error(`${folder.href}: not all scripts were loaded`);
  return scripts;
}

/** A script from its text, for tests and for modules that keep their Lua elsewhere. @throws {Error} as loadScripts() does */
export function parseScript(
  name: string,
  source: string,
  { prelude = '', clock = 'server' }: LoadOptions & { readonly prelude?: string } = {},
): Script {
  const faults = headerFaults(name, source, prelude);
  if (faults.length > 0) throw new Error(faults.join('; '));
  const { keys } = parseHeader(name, source);
  const whole = [clockPrelude(clock), prelude, source].filter((part) => part !== '').join('\n');
  return Object.freeze({
    name,
    source: whole,
    sha1: createHash('sha1').update(whole).digest('hex'),
    numberOfKeys: keys.count,
    takesMoreKeys: keys.isOpen,
  });
}

/** One reading of the clock per script would be the caller's to keep: now() asks each time, and time stands still in a script. */
function clockPrelude(clock: ScriptClock): string {
  if (clock === 'server') {
    return "local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end";
  }
  return `local function now() return tonumber(redis.call('GET', ${luaString(clock.key)})) end`;
}

function luaString(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new Error(`the clock key ${JSON.stringify(text)} must be printable ASCII`);
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

function isPrelude(file: string): boolean {
  return file === PRELUDE_NAME || file.startsWith(`${PRELUDE_NAME}.`);
}

function checkNames(folder: URL, files: readonly string[], names: readonly string[]): void {
  const missing = names.filter((name) => !files.includes(name));
  if (missing.length > 0) throw new Error(`${folder.href}: there is no ${missing.join('.lua, ')}.lua`);
  const forgotten = files.filter((file) => !isPrelude(file) && !names.includes(file));
  if (forgotten.length > 0) throw new Error(`${folder.href}: nobody loads ${forgotten.join('.lua, ')}.lua`);
}

function isComplete<Name extends string>(
  scripts: Partial<Record<Name, Script>>,
  names: readonly Name[],
): scripts is Record<Name, Script> {
  return names.every((name) => scripts[name] !== undefined);
}
