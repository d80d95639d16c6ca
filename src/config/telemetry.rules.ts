import type { BootContext } from './boot-context.js';
import { ValueError } from './configuration-error.js';
import { TELEMETRY_VARIABLES as VARIABLES } from './environment/telemetry.variables.js';
import type { EnvironmentVariable } from './environment/variable.js';
import type { OtlpProtocol, OtlpSettings, SamplerSettings, TelemetrySettings } from './telemetry.settings.js';

const SERVICE_NAME = 'ai-api-coordinator';
/** Where a collector beside the service listens (OTLP/HTTP). */
const USUAL_ENDPOINT = new URL('http://localhost:4318');
const USUAL_PROTOCOL: OtlpProtocol = 'http/protobuf';
const USUAL_TIMEOUT_MS = 10_000;
const USUAL_INTERVAL_MS = 60_000;

/**
 * Where telemetry goes by the standard variables: nowhere unless an endpoint is set, or `otlp` is named as an exporter. What can't be
 * used is a notice and not a fault, as OpenTelemetry's specification has it: a collector is no reason not to serve.
 */
export function telemetrySettings(context: BootContext): TelemetrySettings {
  const read = readerOf(context);
  const { 'service.name': name = SERVICE_NAME, ...resource } = read(VARIABLES.resource) ?? {};
  return {
    serviceName: read(VARIABLES.serviceName) ?? name,
    resource,
    ...(read(VARIABLES.isDisabled) !== true && collectorsOf(read, context)),
    sampler: samplerOf(read),
    propagates: read(VARIABLES.propagators)?.includes('tracecontext') ?? true,
  };
}

function collectorsOf(read: Read, context: BootContext): Pick<TelemetrySettings, 'traces' | 'metrics'> {
  const traces = tracesOf(read, context);
  const metrics = metricsOf(read, context);
  const intervalMs = read(VARIABLES.metricIntervalMs) ?? USUAL_INTERVAL_MS;
  return {
    ...(traces !== undefined && { traces }),
    ...(metrics !== undefined && { metrics: { ...metrics, intervalMs } }),
  };
}

type Read = <T>(variable: EnvironmentVariable<T>) => T | undefined;

/** What one signal says of itself. */
interface Signal {
  readonly path: string;
  readonly exporter: EnvironmentVariable<readonly string[]>;
  readonly endpoint: EnvironmentVariable<URL>;
  readonly headers: EnvironmentVariable<Readonly<Record<string, string>>>;
  readonly protocol: EnvironmentVariable<OtlpProtocol>;
}

function tracesOf(read: Read, context: BootContext): OtlpSettings | undefined {
  const { tracesExporter, tracesEndpoint, tracesHeaders, tracesProtocol } = VARIABLES;
  return otlpOf(read, context, {
    path: 'v1/traces',
    exporter: tracesExporter,
    endpoint: tracesEndpoint,
    headers: tracesHeaders,
    protocol: tracesProtocol,
  });
}

function metricsOf(read: Read, context: BootContext): OtlpSettings | undefined {
  const { metricsExporter, metricsEndpoint, metricsHeaders, metricsProtocol } = VARIABLES;
  return otlpOf(read, context, {
    path: 'v1/metrics',
    exporter: metricsExporter,
    endpoint: metricsEndpoint,
    headers: metricsHeaders,
    protocol: metricsProtocol,
  });
}

function otlpOf(read: Read, context: BootContext, signal: Signal): OtlpSettings | undefined {
  const own = read(signal.endpoint);
  const shared = read(VARIABLES.endpoint);
  const isWanted = read(signal.exporter)?.includes('otlp') ?? (own !== undefined || shared !== undefined);
  const protocol = protocolOf(read, context, signal);
  if (!isWanted || protocol === undefined) return undefined;
  const url = own ?? pathUnder(shared ?? USUAL_ENDPOINT, signal.path);
  return {
    url: withoutUser(url).href,
    headers: { ...authorizationOf(url), ...read(VARIABLES.headers), ...read(signal.headers) },
    protocol,
    timeoutMs: read(VARIABLES.timeoutMs) ?? USUAL_TIMEOUT_MS,
    isCompressed: read(VARIABLES.compression) === 'gzip',
  };
}

/** Undefined: another one was asked for than those that are spoken here, and a port that speaks it would not understand ours. */
function protocolOf(read: Read, { reader }: BootContext, { protocol }: Signal): OtlpProtocol | undefined {
  const isSet = reader.isSet(protocol.name) || reader.isSet(VARIABLES.protocol.name);
  return read(protocol) ?? read(VARIABLES.protocol) ?? (isSet ? undefined : USUAL_PROTOCOL);
}

/** As a browser would send a user in a URL (RFC 7617). */
function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function withoutUser(given: URL): URL {
  const url = new URL(given);
  url.username = '';
  url.password = '';
  return url;
}

/** The signal's path after the endpoint's own. */
function pathUnder(endpoint: URL, path: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
}

function samplerOf(read: Read): SamplerSettings {
  const { kind, isParentBased } = read(VARIABLES.sampler) ?? { kind: 'always_on', isParentBased: true };
  const part = { always_on: 1, always_off: 0, traceidratio: read(VARIABLES.samplerArg) ?? 1 };
  return { isParentBased, ratio: part[kind] };
}

/** Reads each variable once; one that can't be used is told of, and counts as not set. */
function readerOf({ reader, notices }: BootContext): Read {
  const told = new Set<string>();
  return (variable) => {
    const { name, isSecret, parse } = variable;
    const text = isSecret ? reader.secret(name) : reader.plain(name);
    if (text === undefined) return undefined;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      if (!told.has(name)) notices.push(`${name} ${error.message}: it is ignored`);
      told.add(name);
      return undefined;
    }
  };
}
