import { parseByteSize } from '../byte-size.js';
import { parseCallerKeys } from '../caller-keys.js';
import { LOG_LEVELS } from '../settings.js';
import { corsOrigins, trustProxy } from './network.parsers.js';
import { durationMs, host, line, oneOf, port, wholeNumber } from './parsers.js';
import { optional, secret, withDefault } from './variable.js';

const HOUR_MS = 3_600_000;

/** The variables about the server itself, who calls it and where completions go. */
export const SERVER_VARIABLES = {
  nodeEnv: optional(
    'NODE_ENV',
    '`production` turns missing Redis, missing provider keys and weak caller keys into errors at boot.',
    line,
  ),
  port: withDefault('PORT', '8080', 'The port to listen on; `0` = any free port.', port),
  host: withDefault(
    'HOST',
    '127.0.0.1',
    'The address to listen on (the image sets `0.0.0.0`). Anything but loopback needs callers.',
    host,
  ),
  metricsPort: optional(
    'METRICS_PORT',
    'A second port that serves `/metrics` only; without it `/metrics` is on the main port.',
    port,
  ),
  configFile: optional(
    'CONFIG_FILE',
    'The file with providers, models, tiers and callers. Default: `coordinator.yaml` in the working directory, else the one that is shipped.',
    line,
  ),
  callerKeys: secret(
    'CALLER_KEYS',
    'Callers as `name:tier:key,…`, besides those of the file; tiers are `free`, `pro`, `enterprise`.',
    parseCallerKeys,
  ),
  upstream: optional(
    'UPSTREAM',
    '`simulator`: answer from the built-in simulator although keys are set; `providers`: never do.',
    oneOf(['simulator', 'providers']),
  ),
  corsOrigins: optional('CORS_ORIGINS', "Browsers' origins that may call, comma-separated, or `*`.", corsOrigins),
  trustProxy: withDefault(
    'TRUST_PROXY',
    'false',
    'Whose `X-Forwarded-*` headers to believe: `true`, `false`, a number of hops, or addresses and CIDR ranges.',
    trustProxy,
  ),
  bodyLimit: withDefault('BODY_LIMIT', '32mb', 'The largest request body.', parseByteSize),
  requestDeadlineMs: withDefault(
    'REQUEST_DEADLINE_MS',
    '120000',
    'The longest a request may take in all, attempts and fallbacks included.',
    durationMs(1, 6 * HOUR_MS),
  ),
  shutdownGraceMs: withDefault(
    'SHUTDOWN_GRACE_MS',
    '20000',
    'How long open requests may go on after SIGTERM.',
    durationMs(0, HOUR_MS),
  ),
  drainDelayMs: withDefault(
    'DRAIN_DELAY_MS',
    '0',
    'How long new requests are still taken after SIGTERM while `/ready` already says 503 (the image sets `5000`).',
    durationMs(0, HOUR_MS),
  ),
  expectedPods: withDefault(
    'EXPECTED_PODS',
    '1',
    'How many pods share the quotas; each takes its part of them while the store is down.',
    wholeNumber(1, 10_000),
  ),
  logLevel: withDefault(
    'LOG_LEVEL',
    'info',
    `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
    oneOf(LOG_LEVELS),
  ),
};
