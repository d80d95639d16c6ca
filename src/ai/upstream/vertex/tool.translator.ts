import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';

/** `tools` and `toolConfig`. @throws UntranslatableError */
export function toolMembers(body: JsonObject): JsonObject {
  const tools = functionsOf(body['tools']);
  const isStrict = tools.some(({ strict }) => strict === true);
  const calling = callingConfig(body['tool_choice'], isStrict);
  return {
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
    ...(calling !== undefined && { toolConfig: { functionCallingConfig: calling } }),
  };
}

function functionsOf(tools: unknown): readonly JsonObject[] {
  if (!isGiven(tools)) return [];
  if (!Array.isArray(tools)) throw new UntranslatableError('tools', 'must be a list');
  return tools.map((tool: unknown, index) => {
    const path = `tools[${String(index)}]`;
    if (!isObject(tool) || tool['type'] !== 'function') {
      const type = isObject(tool) ? JSON.stringify(tool['type']) : 'anything else';
      throw new UntranslatableError(`${path}.type`, `${type} ${NO_COUNTERPART}`);
    }
    const described = tool['function'];
    if (!isObject(described)) throw new UntranslatableError(`${path}.function`, 'must be an object');
    refuseOthers(tool, `${path}.`, ['type', 'function']);
    refuseOthers(described, `${path}.function.`, ['name', 'description', 'parameters', 'strict']);
    textOf(described['name'], `${path}.function.name`);
    return described;
  });
}

/** `parametersJsonSchema` takes JSON schema as it is; `parameters` would take a part of OpenAPI's only. */
function declarationOf({ name, description, parameters }: JsonObject): JsonObject {
  return {
    name,
    ...(isGiven(description) && { description }),
    ...(isGiven(parameters) && { parametersJsonSchema: parameters }),
  };
}

/** VALIDATED: as AUTO, but what is called is sure to follow its schema. */
function callingConfig(choice: unknown, isStrict: boolean): JsonObject | undefined {
  const auto = isStrict ? 'VALIDATED' : 'AUTO';
  if (!isGiven(choice)) return isStrict ? { mode: auto } : undefined;
  if (!isObject(choice)) return { mode: modeOf(choice, auto, 'tool_choice') };
  switch (choice['type']) {
    case 'function':
      refuseOthers(choice, 'tool_choice.', ['type', 'function']);
      return { mode: 'ANY', allowedFunctionNames: [nameIn(choice, 'tool_choice')] };
    case 'allowed_tools':
      return allowedTools(choice['allowed_tools']);
    default:
      throw new UntranslatableError('tool_choice', `${JSON.stringify(choice['type'])} ${NO_COUNTERPART}`);
  }
}

/** Names may be given where the mode is ANY or VALIDATED, not where it is AUTO. */
function allowedTools(allowed: unknown): JsonObject {
  const path = 'tool_choice.allowed_tools';
  const tools = isObject(allowed) ? allowed['tools'] : undefined;
  if (!isObject(allowed) || !Array.isArray(tools)) throw new UntranslatableError(path, 'must hold tools');
  refuseOthers(allowed, `${path}.`, ['mode', 'tools']);
  return {
    mode: modeOf(allowed['mode'], 'VALIDATED', `${path}.mode`),
    allowedFunctionNames: tools.map((tool: unknown, index) => nameIn(tool, `${path}.tools[${String(index)}]`)),
  };
}

function modeOf(choice: unknown, auto: string, path: string): string {
  if (choice === 'auto') return auto;
  if (choice === 'none') return 'NONE';
  if (choice === 'required') return 'ANY';
  throw new UntranslatableError(path, `${JSON.stringify(choice)} ${NO_COUNTERPART}`);
}

function nameIn(tool: unknown, path: string): string {
  const described = isObject(tool) ? tool['function'] : undefined;
  return textOf(isObject(described) ? described['name'] : undefined, `${path}.function.name`);
}
