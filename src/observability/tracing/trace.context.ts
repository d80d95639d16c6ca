import type { IncomingHttpHeaders } from 'node:http';

/** Which step of which trace, as logs name it. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** The step in another service that a request belongs to. */
export interface RemoteParent extends TraceIds {
  /** Whether the other one records it. */
  readonly isSampled: boolean;
  /** What vendors add; not looked at yet. */
  readonly state: string | undefined;
}

/**
 * W3C Trace Context, level 1: version, trace, parent, flags, none of the first three of the values that are not valid; only later
 * versions than 00 may go on, after another dash.
 */
const TRACE_PARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])(?:$|(?<!^00.{53})-)/;
const SAMPLED = 1;

/** Undefined for none, and for one that is not valid: whoever sent it begins a new trace, and is not told. */
export function remoteParentOf({ traceparent, tracestate }: IncomingHttpHeaders): RemoteParent | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, spanId, isSampled, state: typeof tracestate === 'string' ? tracestate : undefined };
}
