import { describe, expect, it } from '@jest/globals';
import { saysContextOverflow } from '../../../src/ai/upstream/context-overflow.js';

describe('saysContextOverflow()', () => {
  it.each([
    ['OpenAI', "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."],
    ['Azure', 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens.'],
    ['Anthropic', 'prompt is too long: 208656 tokens > 200000 maximum'],
    ['Google', 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).'],
    [
      'Vertex AI',
      'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.',
    ],
    ['sglang', "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
    ['vLLM', 'The decoder prompt (length 9000) is longer than the maximum model length of 8192.'],
    ['vLLM, before', 'The prompt (total length 9000) is too long to fit into the model (context length 4096).'],
    ['llama.cpp', 'the request exceeds the available context size. try increasing the context size'],
    ['Ollama', 'the input length exceeds the context length'],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 200000 tokens."],
    ['llama.cpp, today', 'request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it'],
    ['llama-cpp-python', 'Requested tokens (2285) exceed context window of 2048'],
    ['TGI', 'Input validation error: `inputs` must have less than 4096 tokens. Given: 4545'],
    [
      'TGI, with the answer',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1244 `inputs` tokens and 1000 `max_new_tokens`',
    ],
    ['Bedrock', 'Input is too long for requested model.'],
    ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
  ])('row 14: knows the words of %s', (_provider, message) => {
    expect(saysContextOverflow(message)).toBe(true);
  });

  it.each([
    'max_tokens is too large: 100000. This model supports at most 32768 completion tokens.',
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760.",
    'Invalid value for tool_choice: the tool name is too long',
    'Rate limit reached: 30000 tokens per minute',
    'image exceeds 5 MB maximum',
    '',
  ])('takes other limits for what they are: %s', (message) => {
    expect(saysContextOverflow(message)).toBe(false);
  });
});
