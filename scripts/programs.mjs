import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const UPDATE_TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 180_000;

/** Servers that the tests start. Each is found where its variable says, else on the PATH, else by Debian's package of its name. */
const VARIABLES = { 'redis-server': 'REDIS_SERVER', haproxy: 'HAPROXY' };
const OTHER_WAYS = {
  'redis-server': 'apt-get install redis-server, brew install redis, apk add redis',
  haproxy: 'apt-get install haproxy, brew install haproxy, apk add haproxy',
};
/** Where Debian puts servers, which is on root's PATH only. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Finds servers, and installs those that are missing, all by one call of apt-get, where that needs no question to be answered (root,
 * or a sudo that asks for no password).
 *
 * @param {readonly (keyof typeof VARIABLES)[]} names
 * @param {readonly string[]} [more] folders to look into besides those of the PATH
 * @returns {{ environment: Record<string, string>, complaints: Record<string, string> }} the variables that name them; and for each
 *   that is not to be had, what to do about it
 * @throws {Error} where a variable names something else than a program
 */
export function ensurePrograms(names, more = SERVER_FOLDERS) {
  const missing = names.filter((name) => find(name, more) === undefined);
  if (missing.length > 0) install(missing);
  const environment = {};
  const complaints = {};
  for (const name of names) {
    const path = find(name, more);
    if (path === undefined) complaints[name] = complaint(name);
    else environment[VARIABLES[name]] = path;
  }
  return { environment, complaints };
}

/**
 * @returns {string} the path of redis-server, installed if need be
 * @throws {Error} saying what to do, where there is none and none can be installed
 */
export function ensureRedisServer() {
  const { environment, complaints } = ensurePrograms(['redis-server']);
  const { REDIS_SERVER: path } = environment;
  if (path === undefined) throw new Error(complaints['redis-server']);
  return path;
}

function find(name, more) {
  const variable = VARIABLES[name];
  const named = process.env[variable];
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`${variable}=${named} is not an executable file`);
    return named;
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...folders, ...more].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: either way it is not the one.
    return false;
  }
}

function complaint(name) {
  return (
    `the tests need ${name}, and it could not be installed here. Either install it with your package manager` +
    ` (${OTHER_WAYS[name]}), or set ${VARIABLES[name]}=/path/to/${name}.`
  );
}

function install(names) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  console.log(`${names.join(' and ')} not here: installing with apt-get (no output until it is done)`);
  // A failed update is no verdict: the lists may be there already.
  apt(asRoot, ['update'], UPDATE_TIMEOUT_MS);
  apt(asRoot, ['install', '--yes', '--no-install-recommends', ...names], INSTALL_TIMEOUT_MS);
}

function apt(asRoot, words, timeout) {
  // RUNLEVEL=1 keeps a package from starting a server of its own.
  const [command, ...rest] = [
    ...asRoot,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'RUNLEVEL=1',
    'apt-get',
    '-qq',
    ...words,
  ];
  const { status, error, stderr } = spawnSync(command, rest, {
    timeout,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) console.log(`apt-get ${words[0]} failed: ${error?.message ?? stderr.trim().split('\n').at(-1)}`);
}
