import type { ToolCall } from '../request/chat.messages.js';
import type { ChatRequest } from '../request/chat.request.js';
import type { FunctionTool } from '../request/chat.tools.js';
import { sampleJson } from './json-schema.sample.js';
import type { SeededRandom } from './seeded.random.js';

/** Parts of function names that say nothing about what a user asks for. */
const COMMON = new Set([
  'call',
  'create',
  'data',
  'fetch',
  'find',
  'from',
  'function',
  'list',
  'make',
  'search',
  'tool',
  'update',
  'with',
]);

/**
 * The calls that answer the request, none if it is answered in text.
 * - `tool_choice` `required` or a named function: always.
 * - `auto`: when the last message is a user's and names a tool, or a telling word of its name ("weather" for `get_weather`).
 * - `call:NAME {json}` on a line of that message calls it with exactly these arguments; otherwise they are sampled from the schema.
 * - Several tools named give several calls, unless `parallel_tool_calls` is false.
 */
export function planToolCalls(request: ChatRequest, random: SeededRandom): readonly ToolCall[] {
  const chosen = chooseTools(request);
  const calls = request.allowsParallelCalls ? chosen : chosen.slice(0, 1);
  return calls.map(({ tool, exact }) => ({
    id: `call_${random.hex(24)}`,
    name: tool.name,
    arguments: exact ?? JSON.stringify(sampleJson({ type: 'object', ...tool.parameters }, random)),
  }));
}

interface ChosenTool {
  readonly tool: FunctionTool;
  readonly exact?: string;
}

function chooseTools(request: ChatRequest): readonly ChosenTool[] {
  const { toolChoice, tools } = request;
  if (toolChoice === 'none') {
    return [];
  }
  const asked = askedFor(request);
  if (typeof toolChoice === 'object') {
    const named = asked.filter(({ tool }) => tool.name === toolChoice.name);
    const fallback = tools.filter((tool) => tool.name === toolChoice.name).map((tool) => ({ tool }));
    return named.length > 0 ? named : fallback;
  }
  return toolChoice === 'required' && asked.length === 0 ? tools.slice(0, 1).map((tool) => ({ tool })) : asked;
}

function askedFor({ messages, tools }: ChatRequest): readonly ChosenTool[] {
  const last = messages.at(-1);
  if (last?.role !== 'user' || tools.length === 0) {
    return [];
  }
  const explicit = [...last.text.matchAll(/^call:\s*([\w-]+)(?:[ \t]*(\{.*\}))?[ \t]*$/gm)].flatMap(
    ([, name, json]) => {
      const tool = tools.find((each) => each.name === name);
      return tool === undefined ? [] : [json !== undefined && isJson(json) ? { tool, exact: json } : { tool }];
    },
  );
  if (explicit.length > 0) {
    return explicit;
  }
  const words = new Set(wordsOf(last.text));
  const text = last.text.toLowerCase();
  return tools
    .filter((tool) => text.includes(tool.name.toLowerCase()) || tellingWords(tool.name).some((word) => words.has(word)))
    .map((tool) => ({ tool }));
}

function tellingWords(name: string): readonly string[] {
  const spaced = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
  return wordsOf(spaced).filter((word) => word.length >= 4 && !COMMON.has(word));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
