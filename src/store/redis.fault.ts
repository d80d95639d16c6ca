import { types } from 'node:util';
import { StoreConfigurationError, StoreError, type StoreFaultReason, StoreUnavailableError } from './store.errors.js';
import type { Store } from './store.js';

interface Reading {
  readonly reason?: StoreFaultReason;
  readonly message: string;
}

export const READ_ONLY = 'redis is a read-only replica: it fails over, or the address is that of a replica';

/** By the first word of an error reply: what it means here and what to do. Without a reason it passes by itself. */
const REPLIES: Readonly<Record<string, Reading>> = {
  READONLY: { message: READ_ONLY },
  LOADING: { message: 'redis is loading its data' },
  MASTERDOWN: { message: 'the replica has lost its master: redis fails over' },
  CLUSTERDOWN: { message: 'the cluster is down: slots have no master, or it fails over' },
  TRYAGAIN: { message: 'the cluster moves these keys now' },
  MOVED: { message: 'the cluster has moved these keys' },
  ASK: { message: 'the cluster moves these keys now' },
  NOREPLICAS: { message: 'redis has too few replicas to take writes (min-replicas-to-write)' },
  MISCONF: { message: "redis can't write to its disk and takes no writes: see its log" },
  OOM: { message: 'redis is full: raise maxmemory, or give it less to keep' },
  BUSY: { message: 'redis is busy with a script of somebody' },
  UNKILLABLE: { message: 'redis is busy with a script of somebody' },
  WRONGPASS: {
    reason: 'wrong_password',
    message: 'redis refuses the user name or password: check REDIS_USERNAME and REDIS_PASSWORD',
  },
  NOAUTH: { reason: 'wrong_password', message: 'redis asks for a password: set REDIS_PASSWORD' },
  NOPERM: {
    reason: 'no_permission',
    message: 'the redis user may not do this: extend its ACL (commands, keys and channels)',
  },
  DENIED: {
    reason: 'no_permission',
    message: 'redis is in protected mode: give it a password, or bind it to an address',
  },
  WRONGTYPE: {
    reason: 'wrong_type',
    message: 'a key of ours holds something else: choose another REDIS_KEY_PREFIX, or delete it',
  },
  CROSSSLOT: {
    reason: 'cross_slot',
    message: 'the keys of one script lie in different cluster slots: give them one {hash tag}',
  },
};

/** The usual advice would not say which part of the ACL. */
const SELECT_REFUSED: Reading = {
  reason: 'no_permission',
  message: 'the redis user may not choose a database: allow it SELECT, or take database 0 (REDIS_DB)',
};

/** Replies that have no code of their own, by their text. */
const ERR_REPLIES: readonly (readonly [RegExp, Reading])[] = [
  // Redis 5 has no code of its own for it.
  [
    /^ERR (invalid password|AUTH )/,
    {
      reason: 'wrong_password',
      message: 'redis refuses the user name or password: check REDIS_USERNAME and REDIS_PASSWORD',
    },
  ],
  [
    /^ERR (DB index is out of range|invalid DB index)/,
    {
      reason: 'wrong_database',
      message: 'redis has no database of that number: check REDIS_DB, or raise "databases" in its configuration',
    },
  ],
  // What a script meets is data that it did not write, or a fault of its own: it meets it again.
  [
    /user_script: ?\d+|^ERR Error (running|compiling) script/,
    {
      reason: 'script_failed',
      message: 'a script failed: a key of ours is damaged or written by somebody else, or the script is wrong',
    },
  ],
];

const TLS_CODES = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  // What a server says of ours, if it says it before it hangs up.
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
]);

/** What ioredis says where it knows that nothing was sent. */
const NEVER_SENT = /isn't writeable|isn't ready|^Cluster is ended|^connect /;
const CONNECTION_ENDED =
  /^Connection is closed|max retries per request|connection close|None of startup nodes|Socket closed|subscriber for the cluster/;

/**
 * What went wrong, in our classes; what nobody foresaw comes back as it is.
 *
 * @param kind what the store was told that it talks to
 */
export function storeFault(error: unknown, kind: Store['kind']): unknown {
  if (error instanceof StoreError || !types.isNativeError(error)) return error;
  // ioredis puts the command with its words there: a password, or users' data, in every log.
  Reflect.deleteProperty(error, 'command');
  return topologyFault(error, kind) ?? replyFault(error) ?? connectionFault(error) ?? error;
}

/** The first word of an error reply, also where an older server wraps it as a script's error. */
export function replyCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, inner] = /@user_script: ?\d+: -?([A-Z]+) /.exec(error.message) ?? [];
  return inner ?? /^-?([A-Z]{2,})(?: |$)/.exec(error.message)?.[1];
}

function replyFault(error: Error): StoreError | undefined {
  const reading = readingOf(error);
  if (reading === undefined) return undefined;
  return reading.reason === undefined
    ? new StoreUnavailableError(reading.message, { cause: error })
    : new StoreConfigurationError(reading.reason, reading.message, {
        cause: error,
        // It may have come some way before it failed.
        mayHaveRun: reading.reason === 'script_failed',
      });
}

function readingOf(error: Error): Reading | undefined {
  const { message } = error;
  if (/^NOPERM .*'select'/i.test(message)) return SELECT_REFUSED;
  const code = replyCode(error);
  if (code !== undefined && Object.hasOwn(REPLIES, code)) return REPLIES[code];
  return ERR_REPLIES.find(([text]) => text.test(message))?.[1];
}

/** A server of another kind than the store was told. */
function topologyFault(error: Error, kind: Store['kind']): StoreError | undefined {
  const { message } = error;
  const wrong = (text: string): StoreError => new StoreConfigurationError('wrong_topology', text, { cause: error });
  if (kind !== 'cluster' && /^(MOVED|ASK) |SELECT is not allowed in cluster mode/.test(message))
    return wrong(NOT_STANDALONE);
  if (kind === 'cluster' && /cluster support disabled|unknown command '?cluster/i.test(message)) {
    return wrong('the address in REDIS_CLUSTER_NODES is not a cluster: give it as REDIS_URL, or enable cluster mode');
  }
  if (kind !== 'sentinel') return undefined;
  if (/No such master|invalid reply: null/.test(message)) {
    return new StoreConfigurationError(
      'unknown_master',
      'the sentinels watch no master of that name: check REDIS_SENTINEL_MASTER',
      { cause: error },
    );
  }
  if (/unknown command/i.test(message)) {
    return wrong('the address in REDIS_SENTINELS is not a sentinel: give a redis server as REDIS_URL');
  }
  return sentinelRefusal(error);
}

export const NOT_STANDALONE =
  'redis is a cluster node: give its address in REDIS_CLUSTER_NODES, not as a single server';

function sentinelRefusal(error: Error): StoreError | undefined {
  if (/sentinel .*NOPERM/i.test(error.message)) {
    return new StoreConfigurationError('no_permission', 'the sentinels allow their user too little: extend its ACL', {
      cause: error,
    });
  }
  if (!/sentinel .*(NOAUTH|WRONGPASS)/i.test(error.message)) return undefined;
  return new StoreConfigurationError(
    'wrong_password',
    'the sentinels ask for a password: check REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD',
    {
      cause: error,
    },
  );
}

function connectionFault(error: Error): StoreError | undefined {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && TLS_CODES.has(code)) {
    return new StoreConfigurationError(
      'wrong_tls',
      `no trust in the connection to redis (${code}): check REDIS_TLS, REDIS_TLS_CA_FILE and REDIS_TLS_CERT_FILE`,
      {
        cause: error,
      },
    );
  }
  if (NEVER_SENT.test(error.message)) return new StoreUnavailableError("redis can't be reached now", { cause: error });
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) {
    const mayHaveRun = Reflect.get(error, 'syscall') !== 'connect';
    return new StoreUnavailableError(`redis can't be reached (${code})`, { cause: error, mayHaveRun });
  }
  if (CONNECTION_ENDED.test(error.message)) {
    return new StoreUnavailableError('the connection to redis ended', { cause: error, mayHaveRun: true });
  }
  return /^(Too many Cluster redirections|Failed to refresh slots|All sentinels)/.test(error.message)
    ? new StoreUnavailableError('redis is failing over, or most of it is down', { cause: error })
    : undefined;
}
