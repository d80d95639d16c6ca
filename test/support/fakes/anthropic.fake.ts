import type { ProviderWire, Reply, ReplyPart } from '../../contract/provider.rig.js';
import { understandMessages } from './anthropic.reading.js';
import { type Members, pieces } from './reading.js';

/** Anthropic's Messages API as its reference documents it (https://platform.claude.com/docs/en/api/messages). */
export const anthropicWire: Omit<ProviderWire, 'address'> = {
  json: (reply) => ({
    ...head(reply),
    content: reply.content.map(blockOf),
    stop_reason: stopReasonOf(reply),
    usage: usageOf(reply),
  }),
  frames: (reply) => [
    frame({ type: 'message_start', message: { ...head(reply), usage: { ...usageOf(reply), output_tokens: 1 } } }),
    frame({ type: 'ping' }),
    ...reply.content.flatMap(blockFrames),
    frame({
      type: 'message_delta',
      delta: { container: null, stop_details: null, stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { ...usageOf(reply), server_tool_use: null },
    }),
    frame({ type: 'message_stop' }),
  ],
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
  errorFrame:
    'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
  understand: understandMessages,
};

function frame(value: Members & { readonly type: string }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

function head({ usage }: Reply): object {
  return {
    id: 'msg_013Zva2CMHLNnXjNJJKqJ2EF',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [],
    container: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { input_tokens: usage.prompt, output_tokens: 1 },
  };
}

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' };

function stopReasonOf({ native, finish }: Reply): string {
  return native?.finish ?? STOP_REASONS[finish];
}

function usageOf({ native, usage: { prompt, cached, completion } }: Reply): object {
  if (typeof native?.usage === 'object' && native.usage !== null) return native.usage;
  return {
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: completion,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: null,
  };
}

const SIGNATURE = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=';

function blockOf(part: ReplyPart): object {
  if (part.kind === 'text') return { type: 'text', text: part.text, citations: null };
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: part.text, signature: SIGNATURE };
  const input: unknown = JSON.parse(part.arguments);
  return { type: 'tool_use', id: part.id, name: part.name, input, caller: { type: 'direct' } };
}

function blockFrames(part: ReplyPart, index: number): readonly string[] {
  return [
    frame({ type: 'content_block_start', index, content_block: emptied(part) }),
    ...deltasOf(part).map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ];
}

/** A block begins empty. */
function emptied(part: ReplyPart): object {
  if (part.kind === 'text') return blockOf({ ...part, text: '' });
  if (part.kind === 'reasoning') return { ...blockOf({ ...part, text: '' }), signature: '' };
  return blockOf({ ...part, arguments: '{}' });
}

function deltasOf(part: ReplyPart): readonly object[] {
  if (part.kind === 'text') return pieces(part.text).map((text) => ({ type: 'text_delta', text }));
  if (part.kind === 'reasoning') {
    const deltas = pieces(part.text).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return [...deltas, { type: 'signature_delta', signature: SIGNATURE }];
  }
  // A first, empty piece is usual; an empty input has no other.
  const json = part.arguments === '{}' ? [] : pieces(part.arguments);
  return ['', ...json].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
}
