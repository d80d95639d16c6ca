import { type OnApplicationBootstrap, type OnApplicationShutdown, Injectable } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from './logger.js';
import { METRICS_CONTENT_TYPE, MetricsPage } from './metrics.page.js';

/** A scrape is one short request; nobody else has business here. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 5_000 };
const MOST_CONNECTIONS = 100;

const FIXED_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Where the metrics are served when they have a port of their own. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Which Host headers are answered; undefined: all. Where only loopback callers are meant, a rebound DNS name is none of them. */
  readonly isHostAllowed?: (host: string | undefined) => boolean;
}

/**
 * Serves `GET /metrics`, and nothing else, on METRICS_PORT, so that a scrape needs no access to the API's port. A port that is
 * taken is an error at boot. It answers until the rest of the application is closed: the last scrape sees the drain.
 */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server: Server;

  constructor(
    private readonly page: MetricsPage,
    private readonly address: MetricsAddress,
    private readonly logger: Logger,
  ) {
    this.server = createServer(LIMITS, (request, response) => void this.answer(request, response));
    this.server.maxConnections = MOST_CONNECTIONS;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.server.listen(this.address.port, this.address.host);
    await once(this.server, 'listening');
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** The port that was taken, once it listens. */
  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the metrics server does not listen');
    return address.port;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.refusalOf(request);
    if (refusal !== undefined) {
      response.writeHead(refusal, { ...FIXED_HEADERS, ...(refusal === 405 && { allow: 'GET, HEAD' }) }).end();
      return;
    }
    try {
      const text = await this.page.render();
      response.writeHead(200, {
        ...FIXED_HEADERS,
        'content-type': METRICS_CONTENT_TYPE,
        'content-length': Buffer.byteLength(text),
      });
      // Node leaves the body of an answer to HEAD away.
      response.end(text);
    } catch (error) {
      // A collector that throws costs this scrape, which Prometheus sees, and not the process.
      this.logger.error({ err: error }, 'the metrics could not be collected');
      response.writeHead(500).end();
    }
  }

  private refusalOf({ method, url, headers }: IncomingMessage): 403 | 404 | 405 | undefined {
    if (this.address.isHostAllowed?.(headers.host) === false) return 403;
    if (url?.split('?', 1)[0] !== '/metrics') return 404;
    return method === 'GET' || method === 'HEAD' ? undefined : 405;
  }
}
