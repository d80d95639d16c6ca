import type { WordTest } from './bounded.patterns.js';

/**
 * How providers say that a request is larger than their model's window, where they have no code for it or leave it out. No two agree,
 * and they change their words: a provider's code comes first, these second.
 */
const OVERFLOW: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM, OpenRouter: "This model's maximum context length is 8192 tokens. However, your messages resulted in …"
  // sglang: "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
  // llama.cpp: "the request exceeds the available context size"; xAI: "This model's maximum prompt length is 131072 but …"
  // vLLM: "The decoder prompt (length 9000) is longer than the maximum model length of 8192."; Ollama: "prompt too long; exceeded max context length"
  /\b(maximum|max|available|configured|model'?s) (context|prompt|model) (length|size|window)\b/i,
  // Azure: "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens."
  /\binput tokens exceed the configured limit\b/i,
  // Ollama: "the input length exceeds the context length"; llama-cpp-python: "Requested tokens (2285) exceed context window of 2048"
  // OpenAI: "Your input exceeds the context window of this model."; Anthropic: "input length and `max_tokens` exceed context limit: …"
  /\bexceed(s|ed)? (the )?(model'?s? )?context (length|size|window|limit)\b/i,
  // Together: "input (9000 tokens) is longer than context length"; LM Studio: "… is greater than the context length", "with context length of only 4096 tokens"
  /\b(longer|greater|larger) than (the )?context (length|size|window)\b/i,
  /\bcontext length of only \d+ tokens\b/i,
  // MiniMax: "invalid params, context window exceeds limit"; LM Studio: "Context size has been exceeded."; many: "context length exceeded"
  /\bcontext[ _](length|size|window) (has been )?exceed(s|ed)\b/i,
  // Anthropic: "prompt is too long: 208656 tokens > 200000 maximum"; vLLM: "The prompt (total length 9000) is too long to fit into the model"
  /\bprompt\b.{0,40} (is )?too long\b/i,
  // Bedrock: "Input is too long for requested model."; TGI: "`inputs` must have less than 4096 tokens. Given: 5000"
  /\binput is too long for (the )?requested model\b/i,
  /`inputs`( tokens \+ `max_new_tokens`)? must (have less than|be <=) \d+( tokens)?\b/i,
  // Google: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
  // and "the input token count is 1200000 but model only supports up to 1048576"
  /\binput token count\b.{0,80}\b(exceeds the maximum|only supports up to)\b/i,
  // GitHub Copilot: "prompt token count of 93854 exceeds the limit of 90000"
  /\bprompt token count of \d+ exceeds the limit\b/i,
  // Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000." and "… size limit exceeded by 12 tokens."
  // Bedrock: "Too many input tokens. Max input tokens: 8192, request input token count: 9000"
  /\btoo many (input )?tokens\b(?!.{0,40}\bper (second|minute|hour|day)\b)/i,
  // Moonshot: "Your request exceeded model token limit: 262144 (requested: 291351)"
  /\bexceed(s|ed)? (the )?model('?s)? token limit\b/i,
  // watsonx.ai: "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"
  /\binput tokens \d+ cannot exceed the total tokens limit\b/i,
  // Groq, Cerebras: "Please reduce the length of the messages or completion."
  /\breduce the length of the (messages|prompt|input)\b/i,
  // Alibaba Cloud: "Range of input length should be [1, 30720]"
  /\brange of input length should be\b/i,
  // TensorRT-LLM, Poolside: "input length (5000) exceeds maximum input length (4096)", "exceeds maximum allowed input length of 131072 tokens"
  /\b(input|prompt) length\b.{0,40}\bexceeds (the )?max(imum)?( allowed)? input length\b/i,
  // Z.ai: "Prompt 超长"
  /\bprompt ?超长/i,
];

/**
 * @param message - a provider's words about a request that it refused
 * @param own - its own words for it, where they are none of the usual
 */
export function saysContextOverflow(message: string, own?: WordTest): boolean {
  return OVERFLOW.some((words) => words.test(message)) || own?.test(message) === true;
}
