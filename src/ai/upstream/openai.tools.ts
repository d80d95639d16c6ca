import { isObject, type JsonObject, parseObject } from '../wire/json-value.js';
import { RawJson } from '../wire/raw-json.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from './untranslatable.error.js';

/** A function among OpenAI's `tools`. */
export interface OfferedFunction {
  readonly name: string;
  readonly path: string;
  /** Its description, its parameters, and whether they are followed strictly. */
  readonly described: JsonObject;
  readonly tool: JsonObject;
}

/**
 * @param own - members of a tool that the provider's own format has
 * @throws UntranslatableError for tools of other types too
 */
export function functionsOf(tools: unknown, own: readonly string[] = []): readonly OfferedFunction[] {
  return listOf(tools, 'tools').map((tool, index) => {
    const path = `tools[${String(index)}]`;
    const described = functionIn(tool, path);
    refuseOthers(tool, `${path}.`, ['type', 'function', ...own]);
    refuseOthers(described, `${path}.function.`, ['name', 'description', 'parameters', 'strict']);
    return { name: textOf(described['name'], `${path}.function.name`), path, described, tool };
  });
}

/** The name in `{"type": "function", "function": {"name": …}}`, and nothing beside it. @throws UntranslatableError */
export function chosenFunction(choice: unknown, path: string): string {
  if (!isObject(choice)) throw new UntranslatableError(path, 'must be a tool with a type');
  const named = functionIn(choice, path);
  refuseOthers(choice, `${path}.`, ['type', 'function']);
  refuseOthers(named, `${path}.function.`, ['name']);
  return textOf(named['name'], `${path}.function.name`);
}

/** A call in a message that the model wrote. */
export interface WrittenCall {
  readonly id: unknown;
  readonly name: string;
  /** Its text, which reading and writing again would change: large numbers. */
  readonly input: RawJson;
  readonly extra: unknown;
  readonly path: string;
}

/** `tool_calls`. @throws UntranslatableError for calls of anything but functions too */
export function callsOf(calls: unknown, list: string): readonly WrittenCall[] {
  return listOf(calls, list).map((call, index) => {
    const path = `${list}[${String(index)}]`;
    const called = functionIn(call, path);
    // `index` is what a client that collects a stream leaves in it.
    refuseOthers(call, `${path}.`, ['id', 'type', 'function', 'index', 'extra_content']);
    refuseOthers(called, `${path}.function.`, ['name', 'arguments']);
    return {
      id: call['id'],
      name: textOf(called['name'], `${path}.function.name`),
      input: inputOf(called['arguments'], `${path}.function.arguments`),
      extra: call['extra_content'],
      path,
    };
  });
}

function listOf(value: unknown, path: string): readonly JsonObject[] {
  if (!isGiven(value)) return [];
  if (!Array.isArray(value)) throw new UntranslatableError(path, 'must be a list');
  return value.map((item: unknown, index) => {
    if (!isObject(item)) throw new UntranslatableError(`${path}[${String(index)}]`, 'must be an object with a type');
    return item;
  });
}

function functionIn(tool: JsonObject, path: string): JsonObject {
  const { type, function: named } = tool;
  if (type !== 'function') throw new UntranslatableError(`${path}.type`, `${JSON.stringify(type)} ${NO_COUNTERPART}`);
  if (!isObject(named)) throw new UntranslatableError(`${path}.function`, 'must be an object');
  return named;
}

function inputOf(text: unknown, path: string): RawJson {
  const json = isGiven(text) ? textOf(text, path) : '';
  if (json.trim() === '') return new RawJson('{}');
  if (parseObject(json) === undefined) throw new UntranslatableError(path, 'must be the text of a JSON object there');
  return new RawJson(json);
}
