import { saysSomething } from '../../wire/chat-chunk.js';
import { entryOf, isObject, type JsonObject, member } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import { writeJson } from '../../wire/raw-json.js';
import { uselessAnswer } from '../failure.classifier.js';
import { laterUsage, openAiUsage, servedTier } from './usage.js';

/** A chat.completion.chunk. */
export type Chunk = JsonObject;

interface OpenBlock {
  readonly type: unknown;
  /** A tool call's place among the calls. */
  readonly call: number;
  /** Of a tool call: whether its arguments have begun. */
  hasInput: boolean;
  /** Of a tool call: the input that its start brought; streams bring it in pieces. */
  readonly input: unknown;
  thinking: string;
  signature: string;
}

/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons; cut short is what ends neither by itself nor for a tool. */
const FINISH_REASONS: Readonly<Partial<Record<string, string>>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'length',
  refusal: 'content_filter',
};

/**
 * Reads one message, event by event (https://platform.claude.com/docs/en/build-with-claude/streaming), and says the same in OpenAI's
 * chunks. Events and blocks of a kind that it does not know are passed over, as Anthropic asks of clients.
 */
export class MessageReader {
  /** `message_stop` has come. */
  isDone = false;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #head: JsonObject | undefined;
  #usage: JsonObject = {};
  #calls = 0;
  #hasSaid = false;
  #finishReason: string | undefined;

  /** @param created - Unix seconds: the Messages API does not say */
  constructor(
    private readonly provider: string,
    private readonly created: number,
  ) {}

  /** @throws MalformedStreamError for what is not the protocol, UpstreamFailure for an answer that is of no use */
  read(event: JsonObject): readonly Chunk[] {
    switch (event['type']) {
      case 'message_start':
        return this.start(event['message']);
      case 'content_block_start':
        return this.startBlock(event['index'], event['content_block']);
      case 'content_block_delta':
        return this.deltas(this.blockAt(event['index']), event['delta']);
      case 'content_block_stop':
        return this.endBlock(event['index']);
      case 'message_delta':
        return this.delta(event);
      case 'message_stop':
        return this.end();
      default:
        return [];
    }
  }

  private start(message: unknown): readonly Chunk[] {
    if (!isObject(message)) throw new MalformedStreamError('a message_start without its message');
    this.#head = {
      id: message['id'],
      object: 'chat.completion.chunk',
      created: this.created,
      model: message['model'],
    };
    this.#usage = laterUsage(this.#usage, message['usage']);
    return [this.chunk({ role: 'assistant', content: '' })];
  }

  private startBlock(index: unknown, block: unknown): readonly Chunk[] {
    if (!isObject(block)) throw new MalformedStreamError('a content_block_start without its block');
    const { type, input } = block;
    const call = type === 'tool_use' ? this.#calls++ : 0;
    const open = { type, call, input, hasInput: false, thinking: '', signature: '' };
    this.#blocks.set(index, open);
    switch (type) {
      case 'tool_use':
        return [this.callChunk(call, { id: block['id'], type: 'function' }, { name: block['name'], arguments: '' })];
      case 'redacted_thinking':
        return [this.chunk({ thinking_blocks: [block] })];
      default:
        // A whole block, where the answer is no stream.
        return this.deltas(open, block);
    }
  }

  private deltas(block: OpenBlock, delta: unknown): readonly Chunk[] {
    const partial = member(delta, 'partial_json');
    if (block.type === 'tool_use' && typeof partial === 'string' && partial !== '') {
      block.hasInput = true;
      return [this.callChunk(block.call, {}, { arguments: partial })];
    }
    if (block.type === 'text') return this.textChunks('content', member(delta, 'text'));
    if (block.type !== 'thinking') return [];
    const signature = member(delta, 'signature');
    if (typeof signature === 'string') block.signature += signature;
    const thinking = member(delta, 'thinking');
    if (typeof thinking === 'string') block.thinking += thinking;
    return this.textChunks('reasoning_content', thinking);
  }

  private endBlock(index: unknown): readonly Chunk[] {
    const block = this.blockAt(index);
    this.#blocks.delete(index);
    if (block.type === 'tool_use' && !block.hasInput) {
      // No piece at all says an empty input, which OpenAI writes out.
      return [this.callChunk(block.call, {}, { arguments: writeJson(block.input ?? {}) })];
    }
    if (block.type !== 'thinking') return [];
    const { thinking, signature } = block;
    return [this.chunk({ thinking_blocks: [{ type: 'thinking', thinking, signature }] })];
  }

  private delta({ delta, usage }: JsonObject): readonly Chunk[] {
    this.#usage = laterUsage(this.#usage, usage);
    const reason = member(delta, 'stop_reason');
    if (typeof reason !== 'string') return [];
    const finish = entryOf(FINISH_REASONS, reason);
    this.#finishReason = finish ?? 'stop';
    // Words that nobody knows yet are an end where something was said.
    if (finish === undefined && !this.#hasSaid)
      throw uselessAnswer(this.provider, 'ended its answer before it began', openAiUsage(this.#usage));
    const explanation = member(member(delta, 'stop_details'), 'explanation');
    return [this.chunk(typeof explanation === 'string' ? { refusal: explanation } : {}, this.#finishReason)];
  }

  private end(): readonly Chunk[] {
    if (this.#finishReason === undefined) throw new MalformedStreamError('a message_stop without a stop reason');
    this.isDone = true;
    const usage = openAiUsage(this.#usage);
    return usage === undefined ? [] : [{ ...this.#started(), choices: [], usage }];
  }

  private blockAt(index: unknown): OpenBlock {
    const block = this.#blocks.get(index);
    if (block === undefined) throw new MalformedStreamError('an event of a block that has not begun');
    return block;
  }

  private textChunks(name: string, text: unknown): readonly Chunk[] {
    return typeof text === 'string' && text !== '' ? [this.chunk({ [name]: text })] : [];
  }

  private callChunk(index: number, call: JsonObject, called: JsonObject): Chunk {
    return this.chunk({ tool_calls: [{ index, ...call, function: called }] });
  }

  private chunk(delta: JsonObject, finishReason?: string): Chunk {
    this.#hasSaid ||= saysSomething(delta);
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason ?? null };
    return { ...this.#started(), choices: [choice], usage: null };
  }

  #started(): JsonObject {
    if (this.#head === undefined) throw new MalformedStreamError('an answer that does not begin with message_start');
    return { ...this.#head, ...servedTier(this.#usage) };
  }
}

/** A whole message as the events that would have streamed it. */
export function* eventsOf(message: JsonObject): Generator<JsonObject> {
  yield { type: 'message_start', message };
  const blocks: readonly unknown[] = Array.isArray(message['content']) ? message['content'] : [];
  for (const [index, block] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: block };
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_delta', delta: message };
  yield { type: 'message_stop' };
}
