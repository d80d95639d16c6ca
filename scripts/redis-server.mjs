import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const UPDATE_TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 180_000;

/**
 * Finds redis-server: where REDIS_SERVER says, else on the PATH, else by installing Debian's package where that needs no question
 * to be answered (root, or a sudo that asks for no password).
 *
 * @returns {string} its path
 * @throws {Error} saying what to do, where there is none and none can be installed
 */
export function ensureRedisServer() {
  const named = process.env.REDIS_SERVER;
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) throw new Error(`REDIS_SERVER=${named} is not an executable file`);
    return named;
  }
  const path = findOnPath() ?? (install() ? findOnPath() : undefined);
  if (path === undefined) {
    throw new Error(
      'the tests need a redis-server, and it could not be installed here. Either install it with your package manager' +
        ' (apt-get install redis-server, brew install redis, apk add redis), or set REDIS_SERVER=/path/to/redis-server.',
    );
  }
  return path;
}

function findOnPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'redis-server')).find(isExecutable);
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

function install() {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  console.log('redis-server is not here: installing it with apt-get (no output until it is done)');
  // A failed update is no verdict: the lists may be there already.
  apt(asRoot, ['update'], UPDATE_TIMEOUT_MS);
  return apt(asRoot, ['install', '--yes', '--no-install-recommends', 'redis-server'], INSTALL_TIMEOUT_MS);
}

function apt(asRoot, words, timeout) {
  // RUNLEVEL=1 keeps the package from starting a server of its own.
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
  if (status === 0) return true;
  console.log(`apt-get ${words[0]} failed: ${error?.message ?? stderr.trim().split('\n').at(-1)}`);
  return false;
}
