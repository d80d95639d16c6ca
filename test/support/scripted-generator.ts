import type { Generation, GenerationRequest, TurnGenerator } from '../../src/conversation/index.js';

type Chunk = Readonly<Record<string, unknown>>;
/** What a model says to one request; it may take its time, and fail. */
export type Script = (request: GenerationRequest) => AsyncIterable<Chunk>;

export interface GeneratorCall {
  readonly request: GenerationRequest;
  /** `performance.now()` when its signal aborted. */
  abortedAt: number | undefined;
}

/** Stands for the models: plays what it is told to, and knows what it was asked. */
export class ScriptedGenerator implements TurnGenerator {
  readonly calls: GeneratorCall[] = [];
  readonly #scripts: Script[] = [];

  /** @param usual - played where nothing else was told */
  constructor(private readonly usual: Script = answering()) {}

  /** Of the next calls, in this order. */
  play(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  /** Forgets what it was told, and asked. */
  reset(): void {
    this.#scripts.length = 0;
    this.calls.length = 0;
  }

  generate(request: GenerationRequest): Promise<Generation> {
    const call: GeneratorCall = { request, abortedAt: undefined };
    this.calls.push(call);
    request.signal.addEventListener('abort', () => (call.abortedAt = performance.now()), { once: true });
    const script = this.#scripts.shift() ?? this.usual;
    return Promise.resolve({ events: chunksOf(script(request)), report: {} });
  }

  /** The messages of a call, the last one by default. */
  messages(at = -1): readonly Chunk[] {
    return (this.calls.at(at)?.request.body['messages'] ?? []) as readonly Chunk[];
  }
}

async function* chunksOf(script: AsyncIterable<Chunk>): AsyncGenerator<{ readonly chunk: Chunk }> {
  for await (const chunk of script) yield { chunk };
}

export function delta(more: Chunk, finishReason: string | null = null): Chunk {
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'answerer' },
    choices: [{ index: 0, delta: more, finish_reason: finishReason }],
  };
}

export const text = (content: string): Chunk => delta({ content });
export const stop = (reason = 'stop'): Chunk => delta({}, reason);
export const usage: Chunk = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'answerer', choices: [] },
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

/** Says the pieces, `everyMs` after each other. */
export function saying(pieces: readonly string[], everyMs = 0): Script {
  return async function* () {
    for (const piece of pieces) {
      yield text(piece);
      if (everyMs > 0) await later(everyMs);
    }
    yield stop();
    yield usage;
  };
}

/** Says what it was asked once it may, or after so many ms. */
export function answering(when: number | Promise<void> = 0): Script {
  return async function* ({ body }) {
    if (typeof when !== 'number') await when;
    else if (when > 0) await later(when);
    const messages = body['messages'] as readonly { content: unknown }[];
    yield text(`you said: ${String(messages.at(-1)?.content)}`);
    yield stop();
    yield usage;
  };
}

/** Says what it was asked once it is let. */
export function gated(): { readonly script: Script; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    script: answering(opened),
    open: () => {
      open();
    },
  };
}

/** Says the pieces, and then nothing more, whatever its signal says. */
export function hanging(...pieces: readonly string[]): Script {
  return async function* () {
    for (const piece of pieces) yield text(piece);
    await new Promise(() => undefined);
  };
}

/** Says the pieces and fails. */
export function failing(error: Error, ...pieces: readonly string[]): Script {
  return async function* () {
    for (const piece of pieces) yield text(piece);
    await later(1);
    throw error;
  };
}

/** Calls tools by these ids. */
export function calling(...ids: readonly string[]): Script {
  return async function* () {
    await later(0);
    for (const [index, id] of ids.entries()) {
      yield delta({ tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }] });
      yield delta({ tool_calls: [{ index, function: { arguments: '{"city":' } }] });
      yield delta({ tool_calls: [{ index, function: { arguments: '"Rome"}' } }] });
    }
    yield stop('tool_calls');
  };
}

export function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
