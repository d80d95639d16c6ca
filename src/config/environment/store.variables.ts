import { host, line, oneOf, toggle, wholeNumber } from './parsers.js';
import { LARGEST_DB, addresses, keyPrefix, redisPort, redisUrl } from './redis.parsers.js';
import { optional, secret, withDefault } from './variable.js';

/** The variables about the store that pods share. At most one of the four addresses is set. */
export const STORE_VARIABLES = {
  kind: optional(
    'STORE',
    '`memory`: the embedded store (one replica only); `redis`: refuse to start without a Redis address.',
    oneOf(['memory', 'redis']),
  ),
  url: secret('REDIS_URL', '`redis[s]://[user:password@]host[:port][/db]`.', redisUrl),
  host: optional('REDIS_HOST', 'Redis by host and `REDIS_PORT`, in place of the URL.', host),
  port: withDefault('REDIS_PORT', '6379', 'Belongs to `REDIS_HOST`.', redisPort),
  sentinels: optional(
    'REDIS_SENTINELS',
    '`host:port,…` of the sentinels (port 26379 unless given).',
    addresses(26_379),
  ),
  sentinelMaster: optional('REDIS_SENTINEL_MASTER', 'The name of the master group that the sentinels watch.', line),
  sentinelUsername: optional('REDIS_SENTINEL_USERNAME', 'The ACL user at the sentinels.', line),
  sentinelPassword: secret('REDIS_SENTINEL_PASSWORD', "The sentinels' own password, where it differs from none.", line),
  clusterNodes: optional('REDIS_CLUSTER_NODES', '`host:port,…` of some nodes of a Redis Cluster.', addresses(6_379)),
  username: optional('REDIS_USERNAME', 'The ACL user.', line),
  password: secret('REDIS_PASSWORD', 'The password of that user, or of `requirepass`.', line),
  db: withDefault('REDIS_DB', '0', 'The database number; always 0 in a cluster.', wholeNumber(0, LARGEST_DB)),
  tls: withDefault('REDIS_TLS', 'false', 'Encrypt the connection.', toggle),
  tlsCaFile: optional('REDIS_TLS_CA_FILE', 'A PEM file with the CA that signed the certificate of Redis.', line),
  tlsCertFile: optional(
    'REDIS_TLS_CERT_FILE',
    'A PEM file with the certificate to show where Redis asks for one.',
    line,
  ),
  tlsKeyFile: optional('REDIS_TLS_KEY_FILE', 'A PEM file with the private key of that certificate.', line),
  keyPrefix: withDefault(
    'REDIS_KEY_PREFIX',
    'coordinator:',
    'In front of every key, so that several installations can share one Redis.',
    keyPrefix,
  ),
};
