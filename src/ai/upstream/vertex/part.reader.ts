import { createHash } from 'node:crypto';
import { saysSomething } from '../../wire/chat-chunk.js';
import { isObject, type JsonObject } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import type { UpstreamFailure } from '../upstream-failure.js';
import { signed } from './thought-signature.js';

/** What is new in an answer, as the `delta` of a chunk. */
type Delta = Readonly<Partial<Record<'content' | 'reasoning_content' | 'tool_calls' | 'extra_content', unknown>>>;

/** Members that say something of a part but are not what it holds. */
const ABOUT = ['text', 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution', 'partMetadata'];

/** Reads the parts of one answer, which may come in several responses. */
export class PartReader {
  /** There was text, a thought or a call. */
  hasSaid = false;
  #calls = 0;

  /**
   * @param answer - names the answer among all answers: ids are made of it, so that the same answer has the same ids
   * @param useless - the failure of an answer that can't be told
   */
  constructor(
    private readonly answer: string,
    private readonly useless: (fact: string) => UpstreamFailure,
  ) {}

  get hasCalled(): boolean {
    return this.#calls > 0;
  }

  /** @throws UpstreamFailure for a part that OpenAI's format can't hold: it would be missing from the answer */
  read(parts: unknown): Delta {
    const calls: JsonObject[] = [];
    const others: JsonObject[] = [];
    for (const part of listOf(parts)) {
      if (isObject(part['functionCall'])) calls.push(this.#call(part['functionCall'], part['thoughtSignature']));
      else others.push(this.#checked(part));
    }
    const isThought = ({ thought }: JsonObject): boolean => thought === true;
    const content = textOf(others.filter((part) => !isThought(part)));
    const reasoning = textOf(others.filter(isThought));
    const delta = {
      ...(content !== undefined && { content }),
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...signed(others.flatMap(({ thoughtSignature }) => thoughtSignature ?? []).at(-1)),
    };
    this.hasSaid ||= saysSomething(delta);
    return delta;
  }

  /**
   * It comes whole, also in a stream. Gemini mostly gives it no id; OpenAI's format needs one, of 40 characters at most. Its numbers
   * are doubles there (google.protobuf.Struct): reading them loses nothing.
   */
  #call({ id, name, args }: JsonObject, thoughtSignature: unknown): JsonObject {
    if (typeof name !== 'string') throw new MalformedStreamError('a call without a name');
    const index = this.#calls;
    this.#calls += 1;
    return {
      index,
      id: typeof id === 'string' && id !== '' ? id : this.#madeUpId(index),
      type: 'function',
      function: { name, arguments: JSON.stringify(args ?? {}) },
      ...signed(thoughtSignature),
    };
  }

  #madeUpId(index: number): string {
    const digest = createHash('sha256')
      .update(`${this.answer}/${String(index)}`)
      .digest('hex');
    return `call_${digest.slice(0, 24)}`;
  }

  #checked(part: JsonObject): JsonObject {
    const other = Object.keys(part).find((key) => !ABOUT.includes(key));
    if (other === undefined) return part;
    const word = /^\w{1,40}$/.test(other) ? other : 'something';
    throw this.useless(`answered with ${word}, which has no counterpart here`);
  }
}

function listOf(parts: unknown): readonly JsonObject[] {
  const list = parts ?? [];
  if (!Array.isArray(list) || !list.every(isObject)) throw new MalformedStreamError('parts that are none');
  return list;
}

/** Undefined: none of the parts is text. An empty text is one. */
function textOf(parts: readonly JsonObject[]): string | undefined {
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  return texts.length === 0 ? undefined : texts.join('');
}
