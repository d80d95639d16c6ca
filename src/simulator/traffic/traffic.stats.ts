import type { Exchange } from '../wire/exchange.js';
import type { Endpoint } from '../script/script.js';
import { TrafficRecord } from './traffic.record.js';

const MAX_RECORDS = 100;

interface Counts {
  total: number;
  byModel: Record<string, number>;
  byStatus: Record<string, number>;
}

/** Which of the latest requests to show. */
export interface RecordFilter {
  readonly endpoint?: string;
  readonly model?: string;
  readonly status?: string;
  readonly contains?: string;
  readonly limit?: number;
}

/** Counts what reached the simulator. Bounded: counters by catalogue model and status, and the latest 100 requests. */
export class TrafficStats {
  private chat = noCounts();
  private others: Record<string, number> = {};
  private abortedByClient = 0;
  private inFlight = 0;
  private peakInFlight = 0;
  private billed = { replies: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  private records: TrafficRecord[] = [];

  /** Called once per request, at its arrival; it ends by itself when the response closes. */
  begin(id: string, endpoint: Endpoint | 'other', exchange: Exchange): TrafficRecord {
    const record = new TrafficRecord(id, endpoint, exchange);
    this.records = [...this.records.slice(1 - MAX_RECORDS), record];
    if (endpoint === 'chat') {
      this.chat.total += 1;
      this.inFlight += 1;
      this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    } else {
      increment(this.others, endpoint);
    }
    exchange.response.once('close', () => {
      this.end(record);
    });
    return record;
  }

  /** Called when the body of a chat request is there. @param model its catalogue name, or `unknown` */
  identify(record: TrafficRecord, model: string): void {
    record.model = model;
    increment(this.chat.byModel, model);
  }

  private end(record: TrafficRecord): void {
    record.end();
    if (record.endpoint !== 'chat') {
      return;
    }
    this.inFlight -= 1;
    this.abortedByClient += record.outcome === 'aborted' ? 1 : 0;
    increment(this.chat.byStatus, String(record.status ?? 'none'));
    if (record.usage !== undefined && record.outcome === 'answered') {
      this.billed.replies += 1;
      this.billed.promptTokens += record.usage.promptTokens;
      this.billed.cachedTokens += record.usage.cachedTokens;
      this.billed.completionTokens += record.usage.completionTokens;
    }
  }

  /** Forgets everything but the requests in flight. */
  reset(): void {
    this.chat = noCounts();
    this.others = {};
    this.abortedByClient = 0;
    this.peakInFlight = this.inFlight;
    this.billed = { replies: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
    this.records = [];
  }

  /** `requests` are those for chat; `byStatus` ("none": ended without a head) and `billed` count them when they have ended. */
  toJson(filter: RecordFilter): object {
    const { chat, others, inFlight, peakInFlight, abortedByClient, billed } = this;
    const matching = this.records.filter((record) => matches(record, filter)).slice(-(filter.limit ?? MAX_RECORDS));
    return {
      requests: chat,
      otherRequests: others,
      inFlight,
      peakInFlight,
      abortedByClient,
      billed,
      lastRequests: matching.map((record) => record.toJson()),
    };
  }
}

function matches(record: TrafficRecord, filter: RecordFilter): boolean {
  return (
    (filter.endpoint === undefined || record.endpoint === filter.endpoint) &&
    (filter.model === undefined || record.model === filter.model) &&
    (filter.status === undefined || String(record.status ?? 'none') === filter.status) &&
    (filter.contains === undefined || record.rawBody.includes(filter.contains))
  );
}

function noCounts(): Counts {
  return { total: 0, byModel: {}, byStatus: {} };
}

function increment(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
