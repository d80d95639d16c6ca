import { arrayAt, choiceAt, memberOf, objectAt, stringAt, type JsonObject } from './json.checks.js';
import { invalidRequest } from '../provider.error.js';

export interface FunctionTool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

const MAX_TOOLS = 128;

/** @throws ProviderError 400 in OpenAI's wording. */
export function parseTools(value: unknown): readonly FunctionTool[] {
  if (value === undefined) {
    return [];
  }
  return arrayAt(value, 'tools', MAX_TOOLS).map((each, index) => {
    const param = `tools[${String(index)}]`;
    const tool = objectAt(each, param);
    choiceAt(tool['type'], `${param}.type`, ['function']);
    const definition = objectAt(tool['function'], `${param}.function`);
    const name = stringAt(definition['name'], `${param}.function.name`);
    if (!/^[\w-]{1,64}$/.test(name)) {
      const message = `Invalid '${param}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
      throw invalidRequest(message, `${param}.function.name`, 'invalid_value');
    }
    return { name, parameters: objectAt(memberOf(definition, 'parameters') ?? {}, `${param}.function.parameters`) };
  });
}

/** @throws ProviderError 400 in OpenAI's wording. */
export function parseToolChoice(value: unknown, tools: readonly FunctionTool[]): ToolChoice {
  if (value === undefined) {
    return 'auto';
  }
  if (tools.length === 0) {
    const message = "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
    throw invalidRequest(message, 'tool_choice');
  }
  if (typeof value === 'string') {
    return choiceAt<'none' | 'auto' | 'required'>(value, 'tool_choice', ['none', 'auto', 'required']);
  }
  const choice = objectAt(value, 'tool_choice');
  choiceAt(choice['type'], 'tool_choice.type', ['function']);
  const name = stringAt(objectAt(choice['function'], 'tool_choice.function')['name'], 'tool_choice.function.name');
  if (!tools.some((tool) => tool.name === name)) {
    throw invalidRequest(
      `Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`,
      'tool_choice',
    );
  }
  return { name };
}
