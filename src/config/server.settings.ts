import type { BootContext } from './boot-context.js';
import type { CallerSettings } from './caller.settings.js';
import { SERVER_VARIABLES as SERVER } from './environment/server.variables.js';
import type { ServerSettings } from './settings.js';

/** How the server listens and ends. */
export function serverSettings({ reader, faults }: BootContext, callers: readonly CallerSettings[]): ServerSettings {
  const port = reader.value(SERVER.port);
  const metricsPort = reader.value(SERVER.metricsPort);
  if (port === metricsPort && port !== 0)
    faults.add('METRICS_PORT', 'must not be PORT: leave it out to serve /metrics there');
  const shutdownGraceMs = reader.value(SERVER.shutdownGraceMs);
  const drainDelayMs = reader.value(SERVER.drainDelayMs);
  if (drainDelayMs > shutdownGraceMs)
    faults.add('DRAIN_DELAY_MS', 'is a part of SHUTDOWN_GRACE_MS and must not be longer');
  return {
    host: reader.value(SERVER.host),
    port,
    ...(metricsPort === undefined ? {} : { metricsPort }),
    corsOrigins: corsOriginsOf(reader.value(SERVER.corsOrigins) ?? [], callers),
    trustProxy: reader.value(SERVER.trustProxy),
    bodyLimitBytes: reader.value(SERVER.bodyLimit),
    requestDeadlineMs: reader.value(SERVER.requestDeadlineMs),
    shutdownGraceMs,
    drainDelayMs,
    logLevel: reader.value(SERVER.logLevel),
    loopbackHostsOnly: callers.length === 0,
  };
}

/** A preflight names no caller: the pages of all of them are answered, and the request itself is checked by its caller. */
function corsOriginsOf(origins: readonly string[], callers: readonly CallerSettings[]): readonly string[] {
  if (origins.includes('*')) return origins;
  return [...new Set([...origins, ...callers.flatMap((caller) => caller.origins ?? [])])];
}
