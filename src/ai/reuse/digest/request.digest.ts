import { hash } from 'node:crypto';
import type { CompletionCall } from '../../call/completion-call.js';
import { canonicalJson } from './canonical-json.js';

/**
 * Members that say who asks, which models may answer or how the answer is sent, but nothing of what it says. The models stand in the
 * key by the names that they have in the catalogue.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'model',
  'models',
  'cache',
  'user',
  'metadata',
  'stream',
  'stream_options',
]);

/** Of the headers that go on to a provider those that only trace the call. */
const TRACING: readonly string[] = ['traceparent', 'tracestate'];

/**
 * What a call asks for, 64 hex digits: equal for two calls only where every provider would be told the same, whoever asks it and
 * however the answer is sent. Members that nobody here knows count as well.
 */
export function questionDigest({ bodyText, forwardedHeaders }: CompletionCall): string {
  const headers = Object.entries(forwardedHeaders).filter(([name]) => !TRACING.includes(name));
  return digestOf(canonicalJson(bodyText, WITHOUT_EFFECT), JSON.stringify(headers.sort()));
}

/** A call's whole body, 64 hex digits: equal for two bodies that say the same. */
export function bodyDigest({ bodyText }: CompletionCall): string {
  return digestOf(canonicalJson(bodyText));
}

/** Of several texts, 64 hex digits; where one ends and the next begins counts. */
export function digestOf(...parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${String(part.length)}:${part}`;
  return hash('sha256', text);
}
