/**
 * How providers say that a request is larger than their model's window, where they have no code for it or leave it out. No two agree,
 * and they change their words: a provider's code comes first, these second.
 */
const OVERFLOW: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM, OpenRouter: "This model's maximum context length is 8192 tokens. However, your messages resulted in …"
  // sglang: "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
  // llama.cpp: "the request exceeds the available context size"; xAI: "This model's maximum prompt length is 131072 but …"
  // vLLM: "The decoder prompt (length 9000) is longer than the maximum model length of 8192."
  /\b(maximum|max|available|model'?s) (context|prompt|model) (length|size|window)\b/i,
  // Azure: "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens."
  /\binput tokens exceed the configured limit\b/i,
  // Ollama: "the input length exceeds the context length"; llama-cpp-python: "Requested tokens (2285) exceed context window of 2048"
  /\bexceeds? (the )?context (length|size|window|limit)\b/i,
  // Anthropic: "prompt is too long: 208656 tokens > 200000 maximum"; vLLM: "The prompt (total length 9000) is too long to fit into the model"
  /\bprompt\b.{0,40} is too long\b/i,
  // Bedrock: "Input is too long for requested model."; TGI: "`inputs` must have less than 4096 tokens. Given: 5000"
  /\binput is too long for (the )?requested model\b/i,
  /`inputs`( tokens \+ `max_new_tokens`)? must (have less than|be <=) \d+( tokens)?\b/i,
  // Google: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."
  // and "the input token count is 1200000 but model only supports up to 1048576"
  /\binput token count\b.{0,80}\b(exceeds the maximum|only supports up to)\b/i,
];

/**
 * @param message - a provider's words about a request that it refused
 * @param more - its own words for it, where they are none of the usual
 */
export function saysContextOverflow(message: string, more: readonly RegExp[] = []): boolean {
  return [...OVERFLOW, ...more].some((words) => words.test(message));
}
