import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, member } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import { uselessAnswer } from '../failure.classifier.js';
import type { UpstreamFailure } from '../upstream-failure.js';
import { PartReader } from './part.reader.js';
import { openAiLogprobs } from './logprobs.js';
import { openAiUsage, serviceTier } from './gemini.usage.js';

export interface GeminiReaderOptions {
  /** The provider's name, for messages. */
  readonly provider: string;
  /** The model's name there, for answers that do not say it. */
  readonly model: string;
  /** How many answers were asked for. */
  readonly choices: number;
  /** Unix seconds, for answers that do not say when they were made. */
  readonly now: number;
}

/**
 * Reads responses of Gemini's as OpenAI's chunks. A whole answer is the only response of its kind; a stream is several of them, each
 * with what is new, and the last one of each candidate with the reason for its end.
 */
export class GeminiReader {
  readonly #readers = new Map<number, PartReader>();
  readonly #finished = new Set<number>();
  #usage: JsonObject | undefined;
  /** The provider's for the answer, as soon as it is known. */
  #id: string = randomUUID();

  constructor(private readonly options: GeminiReaderOptions) {}

  /** All answers have ended, those that were asked for and those that were begun. */
  get isComplete(): boolean {
    return this.#finished.size >= this.options.choices && this.hasEnded;
  }

  /** All answers that were begun have ended. */
  get hasEnded(): boolean {
    return this.#finished.size > 0 && [...this.#readers.keys()].every((index) => this.#finished.has(index));
  }

  /**
   * The usage comes in a chunk of its own, once all has been said: what was counted before is not all.
   *
   * @throws UpstreamFailure for an answer that the model could not finish, MalformedStreamError for what is no response
   */
  read(response: JsonObject): readonly JsonObject[] {
    this.#usage = openAiUsage(response['usageMetadata']) ?? this.#usage;
    const choices = this.#choicesOf(response);
    const chunks = choices.length === 0 ? [] : [this.#chunk(response, { choices })];
    const usage = this.isComplete ? this.#usage : undefined;
    return usage === undefined ? chunks : [...chunks, this.#chunk(response, { choices: [], usage })];
  }

  /** What a whole answer says. @throws as `read` does, and MalformedStreamError for one without an end */
  readWhole(response: JsonObject | undefined): JsonObject {
    if (response === undefined) throw new MalformedStreamError('an answer that is no JSON object');
    this.#usage = openAiUsage(response['usageMetadata']);
    const choices = this.#choicesOf(response);
    if (!this.hasEnded) throw new MalformedStreamError('an answer without an end');
    const usage = this.#usage;
    return {
      ...this.#chunk(response, { choices: choices.map(wholeChoice), ...(usage !== undefined && { usage }) }),
      object: 'chat.completion',
    };
  }

  #choicesOf(response: JsonObject): readonly JsonObject[] {
    const { candidates, responseId } = response;
    if (typeof responseId === 'string' && responseId !== '') this.#id = responseId;
    if (Array.isArray(candidates) && candidates.length > 0) {
      return candidates.map((candidate: unknown) => {
        if (!isObject(candidate)) throw new MalformedStreamError('a candidate that is none');
        return this.#choice(candidate);
      });
    }
    if (isSaid(member(response['promptFeedback'], 'blockReason'))) return this.#blocked();
    // A response with the usage alone is one; a response with nothing is not.
    if (!isObject(response['usageMetadata'])) throw new MalformedStreamError('a response without an answer');
    return [];
  }

  #choice(candidate: JsonObject): JsonObject {
    const { index = 0, content, finishReason, logprobsResult, ...others } = candidate;
    if (typeof index !== 'number') throw new MalformedStreamError('a candidate without a place');
    const isFirst = !this.#readers.has(index);
    const reader = this.#readerOf(index);
    const delta = reader.read(member(content, 'parts'));
    const end = this.#endOf(finishReason, reader);
    if (end !== null) this.#finished.add(index);
    return {
      index,
      delta: { ...(isFirst && { role: 'assistant' }), ...delta },
      logprobs: openAiLogprobs(logprobsResult) ?? null,
      finish_reason: end,
      ...nativeWords(others, finishReason),
    };
  }

  /** The prompt itself was refused: no answer was begun. */
  #blocked(): readonly JsonObject[] {
    return Array.from({ length: this.options.choices }, (_, index) => {
      this.#readerOf(index);
      this.#finished.add(index);
      return { index, delta: { role: 'assistant' }, logprobs: null, finish_reason: 'content_filter' };
    });
  }

  #readerOf(index: number): PartReader {
    let reader = this.#readers.get(index);
    if (reader === undefined) {
      reader = new PartReader(`${this.#id}/${String(index)}`, (fact) => this.#useless(fact));
      this.#readers.set(index, reader);
    }
    return reader;
  }

  /**
   * Words that nobody knows yet are an end where something was said. A call that is none, or an end before there was a word, makes the
   * answer one of no use, though it is paid.
   */
  #endOf(reason: unknown, reader: PartReader): string | null {
    if (!isSaid(reason)) return null;
    const finish = FINISH.get(reason) ?? (CUT_SHORT.test(reason) && reader.hasSaid ? 'content_filter' : undefined);
    if (finish !== undefined) return finish;
    if (reason !== 'STOP' && (FAILED_CALL.test(reason) || !reader.hasSaid))
      throw this.#useless(`stopped its answer before the end: ${wordOf(reason)}`);
    return reader.hasCalled ? 'tool_calls' : 'stop';
  }

  #useless(fact: string): UpstreamFailure {
    return uselessAnswer(this.options.provider, fact, this.#usage);
  }

  #chunk(response: JsonObject, members: JsonObject): JsonObject {
    const { createTime, modelVersion } = response;
    const created = typeof createTime === 'string' ? Math.floor(Date.parse(createTime) / 1_000) : Number.NaN;
    return {
      id: `chatcmpl-${this.#id}`,
      object: 'chat.completion.chunk',
      created: Number.isNaN(created) ? this.options.now : created,
      model: typeof modelVersion === 'string' ? modelVersion : this.options.model,
      ...serviceTier(response['usageMetadata']),
      ...members,
    };
  }
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason */
const FINISH: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
]);

/** The model failed at a call of a tool: MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, and what will be named like them. */
const FAILED_CALL = /CALL|MALFORMED|SIGNATURE/;

/** OTHER, IMAGE_OTHER, and what will be named like the filters above: what was said is not all. */
const CUT_SHORT = /OTHER|SAFETY|PROHIBITED|RECITATION|BLOCK/;

function isSaid(reason: unknown): reason is string {
  return typeof reason === 'string' && reason !== '' && !reason.endsWith('_UNSPECIFIED');
}

function wordOf(reason: string): string {
  return /^[A-Z_]{1,64}$/.test(reason) ? reason : 'no reason that is known';
}

/** A choice of the only chunk, as a choice of a completion: its delta is the message. */
function wholeChoice({ delta, ...choice }: JsonObject): JsonObject {
  const { content, tool_calls: calls, ...others } = isObject(delta) ? delta : {};
  if (!Array.isArray(calls)) return { ...choice, message: { ...others, content: content ?? '', refusal: null } };
  const whole = calls.filter(isObject).map(({ index: _, ...call }) => call);
  return { ...choice, message: { ...others, content: content ?? null, refusal: null, tool_calls: whole } };
}

/** What Gemini says of an answer and OpenAI's format has no member for: ratings, citations. */
function nativeWords(others: JsonObject, finishReason: unknown): { readonly extra_content?: JsonObject } {
  const { tokenCount: _tokens, avgLogprobs: _average, ...told } = others;
  if (Object.keys(told).length === 0) return {};
  return { extra_content: { google: { ...told, ...(isSaid(finishReason) && { finishReason }) } } };
}
