import { collectDefaultMetrics, Registry } from 'prom-client';

/** Injects the application's prom-client `Registry`; modules register their metrics there, none in the global default. */
export const METRICS_REGISTRY = Symbol('METRICS_REGISTRY');

let processRegistry: Registry | undefined;

/**
 * The process's own figures: CPU, memory, garbage collection, event loop lag. They belong to the process and not to an
 * application, and prom-client's collectors can't be stopped: hence the one module-level value here, started at first use and at
 * most once, however many applications a process (a test run) makes.
 */
export function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}
