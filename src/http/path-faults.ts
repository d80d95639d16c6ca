import type { IncomingMessage } from 'node:http';
import type { ApiError } from './api-error.js';

/** Can be read by every router. Whoever sends it himself has no fault on record and gets what any path gets. */
const READABLE_PATH = '/unreadable-path';

/**
 * Requests whose path the router can't read. Fastify answers these before any hook; sent round under a path that it can read, they
 * pass the same doors as all others (Host rule, CORS, outcome line, metrics) and are refused there.
 */
export class PathFaults {
  readonly #faults = new WeakMap<IncomingMessage, ApiError>();

  /** Notes the fault; the request is to be routed again after it. */
  note(request: IncomingMessage, fault: ApiError): void {
    this.#faults.set(request, fault);
    request.url = READABLE_PATH;
  }

  of(request: IncomingMessage): ApiError | undefined {
    return request.url === READABLE_PATH ? this.#faults.get(request) : undefined;
  }
}
