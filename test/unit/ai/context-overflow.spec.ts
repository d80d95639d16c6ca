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
    [
      'Cohere',
      'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt.',
    ],
    [
      'Cohere, before',
      'too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354.',
    ],
    [
      'Cohere, today',
      'too many tokens: size limit exceeded by 1204 tokens. Try using shorter or fewer inputs, or setting prompt_truncation.',
    ],
    ['Bedrock, in numbers', 'Too many input tokens. Max input tokens: 8192, request input token count: 9000'],
    ['OpenAI, today', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
    [
      'Anthropic, with the answer',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`',
    ],
    ['Anthropic, in general', 'Request size exceeds model context window'],
    ['Together', 'The input (9000 tokens) is longer than context length (8192).'],
    ['LM Studio', 'The number of tokens to keep from the initial prompt is greater than the context length.'],
    ['LM Studio, before', 'However, the model is loaded with context length of only 4096 tokens, which is not enough.'],
    ['LM Studio, while it writes', 'Context size has been exceeded.'],
    ['MiniMax', 'invalid params, context window exceeds limit (2013)'],
    ['Moonshot', 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)'],
    ['GitHub Copilot', 'prompt token count of 93854 exceeds the limit of 90000'],
    ['watsonx.ai', 'the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model'],
    ['Groq', 'Please reduce the length of the messages or completion.'],
    ['Alibaba Cloud', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]'],
    ['TensorRT-LLM', 'Prompt length (5000) exceeds maximum input length (4096).'],
    ['Poolside', 'Input length 140000 exceeds the maximum allowed input length of 131072 tokens'],
    ['llama.cpp, of all', 'Prompt has 5000 tokens, but the configured context size is 4096 tokens'],
    ['Ollama, today', 'prompt too long; exceeded max context length by 12 tokens'],
    ['Z.ai', 'Prompt 超长'],
    ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
  ])('row 14: knows the words of %s', (_provider, message) => {
    expect(saysContextOverflow(message)).toBe(true);
  });

  it.each([
    'max_tokens is too large: 100000. This model supports at most 32768 completion tokens.',
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760.",
    'Invalid value for tool_choice: the tool name is too long',
    'Too many tokens, please wait: 30000 tokens per minute',
    'Too many requests',
    'max_tokens exceeds the limit of 8192',
    'tool descriptions exceed the maximum length of 1024',
    'Too many tools: at most 128',
    'Rate limit reached: 30000 tokens per minute',
    'image exceeds 5 MB maximum',
    '',
  ])('takes other limits for what they are: %s', (message) => {
    expect(saysContextOverflow(message)).toBe(false);
  });
});
