import type { ToolCall } from '../request/chat.messages.js';
import type { ChatRequest } from '../request/chat.request.js';
import { sampleJson } from './json-schema.sample.js';
import type { ReplyCounter } from './reply.counter.js';
import { pseudoText, streamPieces } from './reply.text.js';
import { planToolCalls } from './reply.tool-calls.js';
import { SeededRandom } from './seeded.random.js';

export interface PlannedChoice {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly tokens: number;
}

export interface ReplyPlan {
  /** The simulator's seed. */
  readonly seed: number;
  /** Tokens that a choice may hold at most. */
  readonly maxTokens: number;
  readonly counter: ReplyCounter;
  /** Scripted: said instead of what the rules would give. */
  readonly text?: string;
}

const MAX_WORDS = 50_000;

/**
 * What each of the `n` choices says. It follows from the seed and the request's content alone, streamed or not:
 * 1. a scripted text; 2. tool calls (see reply.tool-calls.ts); 3. after tool results, a text that cites them; 4. `echo:TEXT` in the last user
 * message is answered with TEXT, character by character (one space after the colon is dropped); 5. a `response_format` in JSON gives JSON
 * valid for the schema; 6. prose, of N words where the message starts with `words:N`.
 */
export function planReply(request: ChatRequest, plan: ReplyPlan): Promise<readonly PlannedChoice[]> {
  const { messages, model, tools, choices } = request;
  const { seed, temperature, response_format: format } = request.body;
  const content = JSON.stringify([model, messages, tools, seed, temperature, format]);
  const planned = Array.from({ length: choices }, (_, index) => {
    const random = new SeededRandom(plan.seed, index, content);
    const toolCalls = plan.text === undefined ? planToolCalls(request, random) : [];
    return toolCalls.length > 0
      ? fitCalls(toolCalls, plan)
      : fitText(beforeStop(plan.text ?? compose(request, random), request.stop), plan);
  });
  return Promise.all(planned);
}

function compose(request: ChatRequest, random: SeededRandom): string {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') {
    return citeResults(request);
  }
  const asked = request.messages.findLast((message) => message.role === 'user')?.text ?? '';
  const echo = /^\s*echo:( ?)/i.exec(asked);
  if (echo !== null) {
    return asked.slice(echo[0].length);
  }
  switch (request.format.type) {
    case 'json_object':
      return JSON.stringify({ answer: pseudoText(random, 8) });
    case 'json_schema':
      return JSON.stringify(sampleJson(request.format.schema, random));
    case 'text':
      return prose(asked, random);
  }
}

function prose(asked: string, random: SeededRandom): string {
  const wished = /^\s*words:\s*(\d{1,6})/i.exec(asked)?.[1];
  return pseudoText(random, wished === undefined ? random.integer(20, 60) : Math.min(Number(wished), MAX_WORDS));
}

function citeResults({ messages }: ChatRequest): string {
  const calls = new Map(messages.flatMap((message) => message.toolCalls).map((call) => [call.id, call.name]));
  const firstResult = messages.findLastIndex((message) => message.role !== 'tool') + 1;
  return messages
    .slice(firstResult)
    .map((result) => `${calls.get(result.toolCallId ?? '') ?? 'The tool'} answered: ${result.text}`)
    .join('\n');
}

function beforeStop(text: string, stops: readonly string[]): string {
  const places = stops.filter((stop) => stop !== '').map((stop) => text.indexOf(stop));
  const found = places.filter((place) => place >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

async function fitText(text: string, plan: ReplyPlan): Promise<PlannedChoice> {
  const kept = await fit(wellFormed(text), plan.maxTokens, plan.counter);
  return { text: kept.text, toolCalls: [], finishReason: kept.isCut ? 'length' : 'stop', tokens: kept.tokens };
}

async function fitCalls(calls: readonly ToolCall[], { maxTokens, counter }: ReplyPlan): Promise<PlannedChoice> {
  let tokens = 0;
  const toolCalls: ToolCall[] = [];
  for (const call of calls) {
    const nameTokens = await counter.count(call.name);
    const kept = await fit(call.arguments, maxTokens - tokens - nameTokens, counter);
    tokens = Math.min(maxTokens, tokens + nameTokens + kept.tokens);
    toolCalls.push({ ...call, arguments: kept.text });
    if (kept.isCut) {
      return { text: '', toolCalls, finishReason: 'length', tokens: maxTokens };
    }
  }
  return { text: '', toolCalls, finishReason: 'tool_calls', tokens };
}

interface FittedText {
  readonly text: string;
  readonly tokens: number;
  readonly isCut: boolean;
}

/** The longest run of whole pieces within the limit. */
async function fit(text: string, maxTokens: number, counter: ReplyCounter): Promise<FittedText> {
  const tokens = await counter.count(text);
  if (tokens <= maxTokens) {
    return { text, tokens, isCut: false };
  }
  const pieces = streamPieces(text);
  let fits = 0;
  let exceeds = pieces.length;
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >>> 1;
    if ((await counter.count(pieces.slice(0, middle).join(''))) <= maxTokens) {
      fits = middle;
    } else {
      exceeds = middle;
    }
  }
  // A model that is cut has used every token it was given.
  return { text: pieces.slice(0, fits).join(''), tokens: Math.max(maxTokens, 0), isCut: true };
}

/** Lone surrogates cannot be written as UTF-8. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
