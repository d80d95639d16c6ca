import type { StreamEvent, UpstreamStream } from '../../src/ai/upstream/provider.adapter.js';

/** A streamed answer, put together as a client does. */
export interface Collected {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
  usage: unknown;
  /** The kinds of its events, neighbours of one kind once. */
  kinds: StreamEvent['kind'][];
}

interface ChunkValue {
  readonly choices?: readonly { readonly finish_reason?: string | null; readonly delta?: Delta }[];
  readonly usage?: unknown;
}

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** @throws whatever the stream throws, after `seen` has been given what came before it */
export async function collected(
  { events }: UpstreamStream,
  seen: (soFar: Collected) => void = () => undefined,
): Promise<Collected> {
  const whole: Collected = { content: '', reasoning: '', calls: [], finish: null, usage: undefined, kinds: [] };
  try {
    for await (const group of events) for (const event of group) add(whole, event);
  } finally {
    seen(whole);
  }
  return whole;
}

/** The same without the ids of its calls: where a provider gives none, the adapter makes them up. */
export function unnamed({ calls, ...whole }: Collected): Omit<Collected, 'calls'> & { calls: object[] } {
  return { ...whole, calls: calls.map(({ name, arguments: input }) => ({ name, arguments: input })) };
}

function add(whole: Collected, event: StreamEvent): void {
  if (whole.kinds.at(-1) !== event.kind) whole.kinds.push(event.kind);
  if (event.kind !== 'chunk') return;
  const { choices = [], usage } = JSON.parse(event.text) as ChunkValue;
  whole.usage = usage ?? whole.usage;
  for (const { delta, finish_reason: finish } of choices) {
    whole.finish = finish ?? whole.finish;
    if (delta !== undefined) addDelta(whole, delta);
  }
}

function addDelta(whole: Collected, { content, reasoning_content: reasoning, tool_calls: calls }: Delta): void {
  whole.content += content ?? '';
  whole.reasoning += reasoning ?? '';
  for (const { index, id, function: called } of calls ?? []) {
    const call = (whole.calls[index] ??= { id: id ?? '', name: called.name ?? '', arguments: '' });
    call.arguments += called.arguments ?? '';
  }
}
