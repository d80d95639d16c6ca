import type {
  ProviderWire,
  Reply,
  ReplyPart,
  Understood,
  UnderstoodPart,
  UnderstoodTool,
  UnderstoodTurn,
} from '../../contract/provider.rig.js';
import { list, type Members, number, object, optional, pieces, RefusedRequest, text } from './reading.js';

/** OpenAI's chat completions as the API reference documents them (https://platform.openai.com/docs/api-reference/chat). */
export const openAiWire: Omit<ProviderWire, 'address'> = {
  json: (reply) => ({
    ...head('chat.completion'),
    choices: [{ index: 0, message: messageOf(reply), logprobs: null, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
    service_tier: 'default',
    system_fingerprint: 'fp_1',
  }),
  frames: (reply) => [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...deltasOf(reply.content).map(delta),
    frame({ choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishOf(reply) }], usage: null }),
    frame({ choices: [], usage: usageOf(reply) }),
    'data: [DONE]\n\n',
  ],
  keepAlive: ': OPENROUTER PROCESSING\n\n',
  errorFrame: `data: ${JSON.stringify({ error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null } })}\n\n`,
  understand: ({ body }) => understand(body),
};

const head = (kind: string): object => ({
  id: 'chatcmpl-1',
  object: kind,
  created: 1_700_000_000,
  model: 'upstream-model',
});

const frame = (members: object): string =>
  `data: ${JSON.stringify({ ...head('chat.completion.chunk'), service_tier: 'default', ...members })}\n\n`;

const delta = (members: object): string =>
  frame({ choices: [{ index: 0, delta: members, logprobs: null, finish_reason: null }], usage: null });

const finishOf = ({ native, finish }: Reply): string => native?.finish ?? finish;

function usageOf({ native, usage }: Reply): unknown {
  const { prompt, cached, completion } = usage;
  return (
    native?.usage ?? {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    }
  );
}

function messageOf({ content }: Reply): object {
  const textOf = (kind: ReplyPart['kind']): string =>
    content.map((part) => (part.kind === kind && 'text' in part ? part.text : '')).join('');
  const calls = content.flatMap((part) => (part.kind === 'call' ? [callOf(part)] : []));
  const reasoning = textOf('reasoning');
  return {
    role: 'assistant',
    content: textOf('text') === '' && calls.length > 0 ? null : textOf('text'),
    refusal: null,
    annotations: [],
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

const callOf = ({ id, name, arguments: input }: Extract<ReplyPart, { kind: 'call' }>): object => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});

function deltasOf(content: readonly ReplyPart[]): readonly object[] {
  let calls = 0;
  return content.flatMap((part): readonly object[] => {
    if (part.kind === 'text') return pieces(part.text).map((piece) => ({ content: piece }));
    if (part.kind === 'reasoning') return pieces(part.text).map((piece) => ({ reasoning_content: piece }));
    const index = calls++;
    return [
      { tool_calls: [{ index, ...callOf({ ...part, arguments: '' }) }] },
      ...pieces(part.arguments).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  });
}

function understand(body: Members): Understood {
  const messages = list(body['messages'], 'messages').map((message) => object(message, 'messages'));
  const names = new Map<unknown, string>();
  for (const call of messages.flatMap((message) => list(message['tool_calls'] ?? [], 'tool_calls'))) {
    const { id, function: called } = object(call, 'tool_calls');
    names.set(id, text(object(called, 'function')['name'], 'name'));
  }
  const isSystem = ({ role }: Members): boolean => role === 'system' || role === 'developer';
  const turns = messages.filter((message) => !isSystem(message)).map((message) => turnOf(message, names));
  return {
    model: text(body['model'], 'model'),
    system: messages.filter(isSystem).flatMap(({ content }) => textsOf(content)),
    turns: joined(turns),
    tools: list(body['tools'] ?? [], 'tools').map(toolOf),
    ...optional('toolChoice', body['tool_choice'], (choice) =>
      typeof choice === 'string' ? choice : text(object(object(choice, '')['function'], '')['name'], 'tool_choice'),
    ),
    ...optional('isParallel', body['parallel_tool_calls'], (value) => value === true),
    ...optional('maxTokens', body['max_completion_tokens'] ?? body['max_tokens'], (value) =>
      number(value, 'max_tokens'),
    ),
    ...optional('temperature', body['temperature'], (value) => number(value, 'temperature')),
    ...optional('topP', body['top_p'], (value) => number(value, 'top_p')),
    ...optional('stop', body['stop'], (value) => [value].flat().map((stop) => text(stop, 'stop'))),
    ...optional('schema', body['response_format'], (format) => object(object(format, '')['json_schema'], '')['schema']),
    isStream: body['stream'] === true,
  };
}

function toolOf(tool: unknown): UnderstoodTool {
  const { name, description, parameters } = object(object(tool, 'tools')['function'], 'function');
  return {
    name: text(name, 'name'),
    ...optional('description', description, (value) => text(value, 'description')),
    schema: parameters,
  };
}

function turnOf(message: Members, names: ReadonlyMap<unknown, string>): UnderstoodTurn {
  const { role, content } = message;
  if (role === 'tool') {
    const of = names.get(message['tool_call_id']);
    if (of === undefined) throw new RefusedRequest('tool_call_id: no such call');
    return { role: 'user', parts: [{ kind: 'result', of, text: textsOf(content).join('') }] };
  }
  if (role !== 'user' && role !== 'assistant') throw new RefusedRequest(`messages: no role ${String(role)}`);
  const calls = list(message['tool_calls'] ?? [], 'tool_calls').map((call): UnderstoodPart => {
    const called = object(object(call, 'tool_calls')['function'], 'function');
    return {
      kind: 'call',
      name: text(called['name'], 'name'),
      input: JSON.parse(text(called['arguments'], 'arguments')),
    };
  });
  return { role, parts: [...partsOf(content), ...calls] };
}

function partsOf(content: unknown): readonly UnderstoodPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return list(content, 'content').map((part) => {
    const { type, text: said, image_url: image } = object(part, 'content');
    if (type === 'text') return { kind: 'text', text: text(said, 'text') };
    if (type === 'image_url') return { kind: 'image', source: text(object(image, 'image_url')['url'], 'url') };
    throw new RefusedRequest(`content: no type ${String(type)}`);
  });
}

function textsOf(content: unknown): readonly string[] {
  return partsOf(content).map((part) => (part.kind === 'text' ? part.text : ''));
}

/** Neighbours of one role, as one turn. */
export function joined(turns: readonly UnderstoodTurn[]): readonly UnderstoodTurn[] {
  const whole: UnderstoodTurn[] = [];
  for (const turn of turns) {
    const last = whole.at(-1);
    if (last?.role === turn.role) whole[whole.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else whole.push(turn);
  }
  return whole;
}
