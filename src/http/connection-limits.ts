import type { Server } from 'node:http';
import type { ConnectionLimits } from './http-options.js';

/** What Node is told when it makes the server. */
export function serverOptions(limits: ConnectionLimits) {
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    // Whatever Node is started with: what it reads leniently, a proxy before it may read differently.
    insecureHTTPParser: false,
    // Ours answers in the error shape.
    requireHostHeader: false,
  };
}

/** How many connections there may be; what one of them may do is for those to say who know its requests. */
export function boundConnections(server: Server, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections;
  // Counted where they can be refused: Node leaves out, without a word, the fields beyond a limit of its own.
  server.maxHeadersCount = 0;
}
