import { ValueError } from '../configuration-error.js';
import { OTLP_PROTOCOLS, type SamplerSettings } from '../telemetry.settings.js';
import { line, list, oneOf, toggle, wholeNumber } from './parsers.js';
import { optional, secret } from './variable.js';

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const PARENT_BASED = 'parentbased_';
const DAY_MS = 86_400_000;

/** Which sampler, before its argument is known. */
export interface NamedSampler {
  readonly kind: (typeof SAMPLERS)[number];
  readonly isParentBased: SamplerSettings['isParentBased'];
}

/** A collector's URL. */
function endpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new ValueError('must be an http or https URL');
  // They are sent as a header.
  decoded(url.username);
  decoded(url.password);
  if (url.hash !== '') throw new ValueError('must not have a fragment');
  return url;
}

/** `name=value,…`, values percent-encoded (W3C Baggage, as OpenTelemetry has it). */
export function pairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    list(text).map((item): [string, string] => {
      const at = item.indexOf('=');
      const name = item.slice(0, Math.max(0, at)).trim();
      if (name === '') throw new ValueError('must be name=value,…');
      return [name, decoded(item.slice(at + 1).trim())];
    }),
  );
}

function headers(text: string): Readonly<Record<string, string>> {
  const all = Object.entries(pairs(text));
  const isHeader = ([name, value]: [string, string]): boolean =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value);
  if (!all.every(isHeader)) throw new ValueError('must be name=value,… of HTTP headers');
  return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw new ValueError('must hold percent-encoded values');
    throw error;
  }
}

function sampler(text: string): NamedSampler {
  const name = text.toLowerCase();
  const isParentBased = name.startsWith(PARENT_BASED);
  const bare = isParentBased ? name.slice(PARENT_BASED.length) : name;
  const kind = SAMPLERS.find((each) => each === bare);
  if (kind === undefined)
    throw new ValueError(`must be one of ${SAMPLERS.join(', ')}, each also with ${PARENT_BASED} before it`);
  return { kind, isParentBased };
}

function ratio(text: string): number {
  const value = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e-?\d{1,3})?$/i.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0 && value <= 1)) throw new ValueError('must be a number from 0 to 1');
  return value;
}

function names(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const given = list(text.toLowerCase());
    const unknown = given.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new ValueError(`must be of ${known.join(', ')}`);
    return given;
  };
}

const timeoutMs = wholeNumber(1, DAY_MS, 'whole milliseconds');
const protocol = oneOf(OTLP_PROTOCOLS);
const compression = oneOf(['gzip', 'none']);

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/**
 * What is read of the variables of OpenTelemetry. Those are set for whole machines, and a line in the log is right for one that is of
 * no use here where a fault would keep the service from its work: see `telemetrySettings()`.
 */
export const TELEMETRY_VARIABLES = {
  isDisabled: optional(
    'OTEL_SDK_DISABLED',
    '`true`: no traces and no metrics are exported, whatever else is set.',
    toggle,
  ),
  serviceName: optional('OTEL_SERVICE_NAME', 'The service in traces. Default: `ai-api-coordinator`.', line),
  resource: optional('OTEL_RESOURCE_ATTRIBUTES', '`name=value,…` of whatever is exported.', pairs),
  endpoint: optional(
    ENDPOINT,
    'Where traces and metrics are exported to, an OTLP collector such as `http://collector:4318`. Without it, or one of the next two, nothing is.',
    endpoint,
  ),
  tracesEndpoint: optional(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'The whole URL for traces, where it is another.',
    endpoint,
  ),
  metricsEndpoint: optional('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'The same for metrics.', endpoint),
  headers: secret(
    'OTEL_EXPORTER_OTLP_HEADERS',
    '`name=value,…` of headers for the collector; `…_TRACES_HEADERS` and `…_METRICS_HEADERS` for one of the two.',
    headers,
  ),
  tracesHeaders: secret('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'Headers for traces.', headers),
  metricsHeaders: secret('OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'Headers for metrics.', headers),
  protocol: optional(
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    '`http/protobuf` (the default) or `http/json`; `grpc` is not supported. `…_TRACES_PROTOCOL` and `…_METRICS_PROTOCOL` for one of the two.',
    protocol,
  ),
  tracesProtocol: optional('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'The protocol for traces.', protocol),
  metricsProtocol: optional('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'The protocol for metrics.', protocol),
  timeoutMs: optional('OTEL_EXPORTER_OTLP_TIMEOUT', 'For one export, ms. Default: `10000`.', timeoutMs),
  compression: optional('OTEL_EXPORTER_OTLP_COMPRESSION', '`gzip` or `none`. Default: `none`.', compression),
  tracesExporter: optional(
    'OTEL_TRACES_EXPORTER',
    '`none`: no traces. Default: `otlp` where an endpoint is set.',
    names(['otlp', 'none']),
  ),
  metricsExporter: optional(
    'OTEL_METRICS_EXPORTER',
    '`none`: no metrics over OTLP. Default: `otlp` where an endpoint is set. `/metrics` is served in any case.',
    names(['otlp', 'prometheus', 'none']),
  ),
  metricIntervalMs: optional(
    'OTEL_METRIC_EXPORT_INTERVAL',
    'Between two exports of metrics, ms. Default: `60000`.',
    timeoutMs,
  ),
  sampler: optional(
    'OTEL_TRACES_SAMPLER',
    '`always_on`, `always_off` or `traceidratio`, each also as `parentbased_…`. Default: `parentbased_always_on`.',
    sampler,
  ),
  samplerArg: optional(
    'OTEL_TRACES_SAMPLER_ARG',
    'The part of traces that `traceidratio` takes, 0 to 1. Default: `1`.',
    ratio,
  ),
  propagators: optional(
    'OTEL_PROPAGATORS',
    "`tracecontext`: a caller's `traceparent` is gone on with, up to the provider; `none`: it is not. Baggage is never passed on. Default: `tracecontext`.",
    names(['tracecontext', 'baggage', 'none']),
  ),
};
