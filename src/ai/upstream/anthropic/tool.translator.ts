import { entryOf, isObject, type JsonObject } from '../../wire/json-value.js';
import { cacheControl } from './content.translator.js';
import { chosenFunction, functionsOf, type OfferedFunction } from '../openai.tools.js';
import { isGiven, NO_COUNTERPART, UntranslatableError } from '../untranslatable.error.js';

/** @throws UntranslatableError */
export function toolMembers(body: JsonObject): Readonly<Record<string, unknown>> {
  const tools = functionsOf(body['tools'], ['cache_control']).map(toolOf);
  const choice = toolChoice(body['tool_choice']);
  const isSingle = body['parallel_tool_calls'] === false;
  if (tools.length === 0 && choice === undefined) return {};
  return {
    ...(tools.length > 0 && { tools }),
    ...((choice !== undefined || isSingle) && { tool_choice: withParallel(choice ?? { type: 'auto' }, isSingle) }),
  };
}

function toolOf({ name, path, described, tool }: OfferedFunction): unknown {
  return {
    name,
    ...(isGiven(described['description']) && { description: described['description'] }),
    input_schema: inputSchema(described['parameters'], `${path}.function.parameters`),
    ...(described['strict'] === true && { strict: true }),
    ...cacheControl(tool),
  };
}

/** OpenAI: no parameters is a function without any. Here there must be a schema, and it must say `object`. */
function inputSchema(parameters: unknown, path: string): unknown {
  if (!isGiven(parameters)) return { type: 'object', properties: {} };
  if (!isObject(parameters)) throw new UntranslatableError(path, 'must be a JSON schema');
  return parameters['type'] === undefined ? { type: 'object', ...parameters } : parameters;
}

const CHOICES: Readonly<Partial<Record<string, string>>> = { auto: 'auto', none: 'none', required: 'any' };

type Choice = Readonly<Record<string, unknown>> & { readonly type: string };

function toolChoice(choice: unknown): Choice | undefined {
  if (!isGiven(choice)) return undefined;
  if (typeof choice === 'string') {
    const type = entryOf(CHOICES, choice);
    if (type !== undefined) return { type };
    throw new UntranslatableError('tool_choice', `${JSON.stringify(choice)} ${NO_COUNTERPART}`);
  }
  return { type: 'tool', name: chosenFunction(choice, 'tool_choice') };
}

/** Where no tool may be called there is nothing to forbid, and no member for it. */
function withParallel(choice: Choice, isSingle: boolean): Choice {
  return isSingle && choice.type !== 'none' ? { ...choice, disable_parallel_tool_use: true } : choice;
}
