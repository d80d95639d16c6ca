import type { EnvironmentReader } from './environment/environment.reader.js';
import type { RedisUrl } from './environment/redis.parsers.js';
import { STORE_VARIABLES as STORE } from './environment/store.variables.js';
import type { EnvironmentVariable } from './environment/variable.js';
import type { BootContext } from './boot-context.js';
import { readText } from './read-text.js';
import { ValueError } from './configuration-error.js';
import type { RedisOptions, StoreSettings } from './settings.js';

const ADDRESSES = ['REDIS_URL', 'REDIS_HOST', 'REDIS_SENTINELS', 'REDIS_CLUSTER_NODES'] as const;
/** Without an address these mean that one was forgotten. */
const COMPANIONS = ['REDIS_PASSWORD', 'REDIS_USERNAME', 'REDIS_SENTINEL_MASTER', 'REDIS_TLS', 'REDIS_DB'] as const;

const PEM_OF = {
  certificate: /-----BEGIN CERTIFICATE-----/,
  // One with a passphrase could not be used.
  'private key': /-----BEGIN (RSA |EC )?PRIVATE KEY-----/,
};

/** Which store the pods share, by the rules of boot; a fault or a notice where there is none. */
export function storeSettings(context: BootContext): StoreSettings {
  const { reader, faults, notices } = context;
  const kind = reader.value(STORE.kind);
  const given = ADDRESSES.filter((name) => reader.isSet(name));
  const redis = redisSettings(context, given);
  if (kind === 'memory') {
    if (given.length > 0)
      notices.push(`${given.join(', ')} ${given.length === 1 ? 'is' : 'are'} ignored because STORE=memory`);
    notices.push('STORE=memory: everything is kept in this process only; run one replica');
    return { kind: 'memory' };
  }
  if (redis !== undefined) return redis;
  if (given.length === 0) noteMissingRedis(context, kind);
  if (given.length > 1)
    faults.add(given[1] ?? 'REDIS_URL', `conflicts with ${given[0] ?? ''}: set one of ${ADDRESSES.join(', ')}`);
  return { kind: 'memory' };
}

function noteMissingRedis({ reader, faults, notices, isProduction }: BootContext, kind: 'redis' | undefined): void {
  if (kind === 'redis') {
    faults.add('STORE', `is redis, but there is no address: set one of ${ADDRESSES.join(', ')}`);
  } else if (isProduction) {
    faults.add(
      'STORE',
      'no Redis is configured: set REDIS_URL (or REDIS_HOST, REDIS_SENTINELS, REDIS_CLUSTER_NODES), or STORE=memory for a single replica',
    );
  } else {
    const orphans = COMPANIONS.filter((name) => reader.isSet(name));
    const hint = orphans.length === 0 ? '' : ` (${orphans.join(', ')} without an address: set REDIS_HOST or REDIS_URL)`;
    notices.push(`no Redis is configured${hint}: the embedded store keeps everything in this process and ends with it`);
  }
}

/** Undefined unless exactly one usable address is given. Every variable is read, so that all faults are found. */
function redisSettings(context: BootContext, given: readonly string[]): StoreSettings | undefined {
  const { reader, faults } = context;
  const url = reader.value(STORE.url);
  const host = reader.value(STORE.host);
  const port = reader.value(STORE.port);
  const sentinels = reader.value(STORE.sentinels);
  const master = reader.value(STORE.sentinelMaster);
  const nodes = reader.value(STORE.clusterNodes);
  const sentinelUsername = reader.value(STORE.sentinelUsername);
  const sentinelPassword = reader.value(STORE.sentinelPassword);
  const options = redisOptions(context, url);
  if (given.length !== 1) return undefined;
  if (url !== undefined) return { kind: 'standalone', host: url.host, port: url.port, ...options };
  if (host !== undefined) return { kind: 'standalone', host, port, ...options };
  if (nodes !== undefined) {
    if (options.db !== 0) faults.add('REDIS_DB', 'must be 0 in a cluster, which has one database');
    return { kind: 'cluster', nodes, ...options };
  }
  if (sentinels === undefined) return undefined;
  if (master === undefined) {
    faults.add('REDIS_SENTINEL_MASTER', 'must name the master group that REDIS_SENTINELS watch, such as mymaster');
    return undefined;
  }
  return {
    kind: 'sentinel',
    sentinels,
    master,
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...options,
  };
}

function redisOptions(context: BootContext, url: RedisUrl | undefined): RedisOptions {
  const { reader } = context;
  const username = agreed(context, 'REDIS_USERNAME', url?.username, reader.value(STORE.username));
  const password = agreed(context, 'REDIS_PASSWORD', url?.password, reader.value(STORE.password));
  // redis:// with REDIS_TLS=true is encrypted; only rediss:// with REDIS_TLS=false says two things.
  const tlsOfUrl = url?.tls === true ? true : undefined;
  const tls = agreed(context, 'REDIS_TLS', tlsOfUrl, given(reader, 'REDIS_TLS', reader.value(STORE.tls))) ?? false;
  const db = agreed(context, 'REDIS_DB', url?.db, given(reader, 'REDIS_DB', reader.value(STORE.db))) ?? 0;
  return { ...identity(username, password), db, ...encryption(context, tls), keyPrefix: reader.value(STORE.keyPrefix) };
}

function identity(
  username: string | undefined,
  password: string | undefined,
): Pick<RedisOptions, 'username' | 'password'> {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

function encryption(context: BootContext, tls: boolean): Pick<RedisOptions, 'tls' | 'tlsCa' | 'tlsCert' | 'tlsKey'> {
  const tlsCa = pemOf(context, STORE.tlsCaFile, tls);
  const tlsCert = pemOf(context, STORE.tlsCertFile, tls);
  const tlsKey = pemOf(context, STORE.tlsKeyFile, tls);
  const [certFile, keyFile] = [STORE.tlsCertFile.name, STORE.tlsKeyFile.name];
  if (context.reader.isSet(certFile) && !context.reader.isSet(keyFile))
    context.faults.add(certFile, `needs ${keyFile}`);
  if (context.reader.isSet(keyFile) && !context.reader.isSet(certFile))
    context.faults.add(keyFile, `needs ${certFile}`);
  return {
    tls,
    ...(tlsCa !== undefined && { tlsCa }),
    ...(tlsCert !== undefined && { tlsCert }),
    ...(tlsKey !== undefined && { tlsKey }),
  };
}

/** The value of a defaulted variable only where somebody has set it. */
function given<T>(reader: EnvironmentReader, name: string, value: T): T | undefined {
  return reader.isSet(name) ? value : undefined;
}

/** What REDIS_URL and the variable beside it say, which must not differ. */
function agreed<T>({ faults }: BootContext, name: string, inUrl: T | undefined, beside: T | undefined): T | undefined {
  if (inUrl !== undefined && beside !== undefined && inUrl !== beside)
    faults.add(name, 'differs from what REDIS_URL says');
  return inUrl ?? beside;
}

function pemOf(context: BootContext, variable: EnvironmentVariable<string>, tls: boolean): string | undefined {
  const { reader, faults, readFile } = context;
  const path = reader.value(variable);
  if (path === undefined) return undefined;
  if (!tls) faults.add(variable.name, 'needs REDIS_TLS=true or a rediss:// URL');
  const what = variable === STORE.tlsKeyFile ? 'private key' : 'certificate';
  return faults.parse(variable.name, () => {
    const pem = readText(readFile, path);
    if (!PEM_OF[what].test(pem)) throw new ValueError(`must name a PEM file with a ${what}: ${path} has none`);
    return pem;
  });
}
