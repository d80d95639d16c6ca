import type { Server } from 'node:http';
import { getHeapStatistics } from 'node:v8';

/** What a slow or greedy client may take of a connection. Answers that are read are not limited: a stream may run for long. */
export interface ConnectionLimits {
  /** From the connection's first byte to the end of the headers, ms; at most requestMs. */
  readonly headersMs: number;
  /** From the first byte to the end of the body, ms. */
  readonly requestMs: number;
  /** How long an idle connection stays open, ms. Longer than the load balancer's own idle time (60 s is common), or it meets a closed one. */
  readonly keepAliveMs: number;
  /** How often the first two of these, and `stalledMs`, are looked at, ms. */
  readonly checkEveryMs: number;
  /** Request line and headers together, bytes. */
  readonly headerBytes: number;
  /** How many header fields a request may have. */
  readonly headerFields: number;
  /** One path segment that stands for a parameter, characters. */
  readonly paramLength: number;
  /** How many connections are open at once; further ones are closed as they come. */
  readonly connections: number;
  /** After so many requests a connection is closed, so that clients that keep theirs spread over new pods in the end. */
  readonly requestsPerConnection: number;
  /** What the bodies of all open requests together may take, bytes; one body within its own limit is always taken. */
  readonly bodiesBytes: number;
  /** How long a client may take nothing of an answer that waits for it, ms. */
  readonly stalledMs: number;
  /** How many requests of one connection are worked on at once; those that come on top wait for their turn. */
  readonly pipelined: number;
  /** With more than so many that wait, nothing more is read from their connection. */
  readonly pipelineQueue: number;
  /** How many requests may wait so on all connections together; who sends one more is cut off. */
  readonly waiting: number;
}

/** A sixteenth of the heap is left to bodies as they come: text, value and what is made of them take about eight times as much. */
const BODY_COPIES = 16;

export const DEFAULT_LIMITS: ConnectionLimits = {
  headersMs: 15_000,
  requestMs: 120_000,
  keepAliveMs: 65_000,
  checkEveryMs: 5_000,
  headerBytes: 16_384,
  headerFields: 200,
  paramLength: 512,
  connections: 10_000,
  requestsPerConnection: 10_000,
  bodiesBytes: Math.floor(getHeapStatistics().heap_size_limit / BODY_COPIES),
  stalledMs: 60_000,
  pipelined: 32,
  pipelineQueue: 256,
  waiting: 20_000,
};

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
