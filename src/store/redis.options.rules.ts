import type { Address, RedisStoreOptions } from './redis.options.js';
import { StoreConfigurationError } from './store.errors.js';

/** What an option must be, in words, and whether a value is it. */
interface Rule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

type Rules = Readonly<Record<string, Rule>>;

/** Twice as long must still fit a timer. */
const MAX_DURATION_MS = 2 ** 30;
const MIN_DURATION_MS = 10;
const MAX_PORT = 65_535;
/** What SELECT takes. */
const MAX_DATABASE = 2 ** 31 - 1;

const optional = ({ must, holds }: Rule): Rule => ({ must, holds: (value) => value === undefined || holds(value) });
const text: Rule = { must: 'must be a text', holds: (value) => typeof value === 'string' };
const name: Rule = { must: 'must be a text that is not empty', holds: (value) => text.holds(value) && value !== '' };
const wholeUpTo = (max: number, least: number, must: string): Rule => ({
  must,
  holds: (value) => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= max,
});
const port = wholeUpTo(MAX_PORT, 1, `must be a port from 1 to ${MAX_PORT}`);
const duration: Rule = {
  must: `must be a number of milliseconds from ${MIN_DURATION_MS} to ${MAX_DURATION_MS}`,
  holds: (value) => typeof value === 'number' && value >= MIN_DURATION_MS && value <= MAX_DURATION_MS,
};
const addresses: Rule = {
  must: 'must be a list of at least one { host, port }',
  holds: (value) => Array.isArray(value) && value.length > 0 && value.every(isAddress),
};

const TUNING: Rules = {
  commandTimeoutMs: optional(duration),
  heartbeatMs: optional(duration),
  policy: optional({
    must: 'must be "refuse" or "degrade"',
    holds: (value) => value === 'refuse' || value === 'degrade',
  }),
  // Redis takes no others for a client's name.
  connectionName: optional({
    must: 'must be a text without spaces',
    holds: (value) => typeof value === 'string' && /^[!-~]*$/.test(value),
  }),
  notify: optional({ must: 'must be a function', holds: (value) => typeof value === 'function' }),
};

const ACCESS: Rules = {
  username: optional(text),
  password: optional(text),
  db: optional(wholeUpTo(MAX_DATABASE, 0, 'must be the number of a database, from 0')),
  tls: optional({ must: 'must be true or false', holds: (value) => typeof value === 'boolean' }),
  tlsCa: optional(text),
  tlsCert: optional(text),
  tlsKey: optional(text),
};

const BY_KIND: Readonly<Record<RedisStoreOptions['kind'], Rules>> = {
  standalone: { ...ACCESS, host: name, port },
  sentinel: {
    ...ACCESS,
    sentinels: addresses,
    master: name,
    sentinelUsername: optional(text),
    sentinelPassword: optional(text),
  },
  cluster: {
    ...ACCESS,
    nodes: addresses,
    db: optional(wholeUpTo(0, 0, 'must be 0 in a cluster, which has one database')),
  },
  client: {
    client: {
      must: 'must be a Redis or Cluster of ioredis',
      holds: (value) => isObject(value) && isObject(value['options']) && typeof value['duplicate'] === 'function',
    },
  },
};

/** Types lie where options come from elsewhere. No value is quoted: it may be a password. @throws StoreConfigurationError `wrong_options` */
export function checkOptions(options: RedisStoreOptions): void {
  const given: unknown = options;
  if (!isObject(given)) throw wrong('the options of the store', 'must be an object');
  const kind = Object.keys(BY_KIND).find((each): each is RedisStoreOptions['kind'] => each === given['kind']);
  if (kind === undefined) throw wrong('kind', `must be one of ${Object.keys(BY_KIND).join(', ')}`);
  for (const [option, { must, holds }] of Object.entries({ keyPrefix: text, ...TUNING, ...BY_KIND[kind] })) {
    if (!holds(given[option])) throw wrong(option, must);
  }
}

function wrong(option: string, must: string): StoreConfigurationError {
  return new StoreConfigurationError('wrong_options', `${option} ${must}`);
}

function isAddress(value: unknown): value is Address {
  return isObject(value) && name.holds(value['host']) && port.holds(value['port']);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
