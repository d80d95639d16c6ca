import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLimits } from './http-options.js';
import type { OpenConnections } from './open-request.js';

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

/** Whoever is idle, or takes nothing of the answer that lies ready, is cut off; whoever waits for an answer is not. */
export function boundConnections(server: Server, connections: OpenConnections, limits: ConnectionLimits): void {
  server.maxConnections = limits.connections;
  // Counted where they can be refused: Node leaves out, without a word, the fields beyond a limit of its own.
  server.maxHeadersCount = 0;
  // The socket's own clock, which Node sets to `keepAliveMs` between requests and to `stalledMs` within them.
  server.on('timeout', (socket: Socket) => {
    const isWaiting = connections.openOn(socket).length > 0 && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
}
