import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS_REGISTRY } from './metrics.registry.js';
import { isServersFault, type Outcome } from './outcome.js';

const LABELS = ['method', 'route', 'status'] as const;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** From a cached answer to a long completion, seconds. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/**
 * Requests by method, route template and status class. Every label's values are bounded by the code, not by what callers send, so
 * that nobody can grow the registry from outside.
 */
@Injectable()
export class HttpMetrics {
  private inFlight = 0;
  private readonly requests: Counter<(typeof LABELS)[number]>;
  private readonly duration: Histogram<(typeof LABELS)[number]>;
  private readonly refusedConnections: Counter;

  constructor(@Inject(METRICS_REGISTRY) registry: Registry) {
    const registers = [registry];
    const inFlight = (): number => this.inFlight;
    new Gauge({
      name: 'coordinator_http_requests_in_flight',
      help: 'Requests whose response is not over yet.',
      registers,
      // Asked at the scrape: a number that every request changes twice is not worth the registry's way of counting.
      collect() {
        this.set(inFlight());
      },
    });
    this.requests = new Counter({
      name: 'coordinator_http_requests_total',
      help: 'Requests that are over; a client that left counts as 4xx, a 505 too.',
      labelNames: LABELS,
      registers,
    });
    this.duration = new Histogram({
      name: 'coordinator_http_request_duration_seconds',
      help: 'From the request head to the end of the response, streams included.',
      labelNames: LABELS,
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.refusedConnections = new Counter({
      name: 'coordinator_connections_refused_total',
      help: 'Connections that were closed as they came, since too many were open.',
      registers,
    });
  }

  /** A connection beyond the most that may be open at once. */
  connectionRefused(): void {
    this.refusedConnections.inc();
  }

  requestStarted(): void {
    this.inFlight += 1;
  }

  requestEnded({ method, route, status, durationMs }: Outcome): void {
    const labels = {
      method: METHODS.has(method) ? method : 'other',
      route,
      status: classOf(status),
    };
    this.inFlight -= 1;
    this.requests.inc(labels);
    this.duration.observe(labels, durationMs / 1_000);
  }
}

/** Of what nobody here is to blame for no alert goes off: a 505 is a `4xx`. */
function classOf(status: number): string {
  return status >= 500 && !isServersFault(status) ? '4xx' : `${String(Math.trunc(status / 100))}xx`;
}
