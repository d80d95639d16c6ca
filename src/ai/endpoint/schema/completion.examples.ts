const ENVELOPE = { id: 'chatcmpl-1', created: 1_795_967_150, model: 'gpt-4.1' };

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 2,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 0 },
  cost: 0.000036,
};

/** Answers as JSON. */
export const COMPLETION_EXAMPLES = {
  text: { summary: 'Text', value: completion({ role: 'assistant', content: 'Hello!', refusal: null }, 'stop') },
  toolCall: {
    summary: 'A tool to call',
    value: completion({ role: 'assistant', content: null, refusal: null, tool_calls: [weatherCall()] }, 'tool_calls'),
  },
};

/** Answers as server-sent events, byte for byte. */
export const STREAM_EXAMPLES = {
  text: {
    summary: 'Text, with `stream_options.include_usage`',
    value: events(
      chunk({ role: 'assistant', content: '' }, { usage: null }),
      chunk({ content: 'Hello' }, { usage: null }),
      chunk({ content: '!' }, { usage: null }),
      chunk({}, { reason: 'stop', usage: null }),
      { ...ENVELOPE, object: 'chat.completion.chunk', choices: [], usage: USAGE },
      '[DONE]',
    ),
  },
  toolCall: {
    summary: 'A tool to call',
    value: events(
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [{ index: 0, ...weatherCall(), function: { name: 'get_weather', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
      chunk({}, { reason: 'tool_calls' }),
      '[DONE]',
    ),
  },
  broken: {
    summary: 'A provider that broke off: an error ends the stream, and no `[DONE]` follows',
    value: events(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), {
      error: { message: 'openai broke off its stream', type: 'api_error', param: null, code: 'upstream_error' },
    }),
  },
};

function completion(message: object, reason: string): object {
  return {
    ...ENVELOPE,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
    usage: USAGE,
  };
}

function chunk(delta: object, { reason = null, ...more }: { reason?: string | null; usage?: null } = {}): object {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
  return { ...ENVELOPE, object: 'chat.completion.chunk', choices, ...more };
}

function events(...values: readonly (object | string)[]): string {
  return values.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('');
}

function weatherCall(): object {
  return { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } };
}
