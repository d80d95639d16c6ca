import { isObject, type JsonObject } from '../../wire/json-value.js';
import { chosenFunction, functionsOf, type OfferedFunction } from '../openai.tools.js';
import { isGiven, NO_COUNTERPART, refuseOthers, UntranslatableError } from '../untranslatable.error.js';

/** `tools` and `toolConfig`. @throws UntranslatableError */
export function toolMembers(body: JsonObject): JsonObject {
  if (body['parallel_tool_calls'] === false) throw new UntranslatableError('parallel_tool_calls', NO_COUNTERPART);
  const tools = functionsOf(body['tools']);
  const isStrict = tools.some(({ described }) => described['strict'] === true);
  const calling = callingConfig(body['tool_choice'], isStrict);
  return {
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
    ...(calling !== undefined && { toolConfig: { functionCallingConfig: calling } }),
  };
}

/** `parametersJsonSchema` takes JSON schema as it is; `parameters` would take a part of OpenAPI's only. */
function declarationOf({ name, described: { description, parameters } }: OfferedFunction): JsonObject {
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
      return { mode: 'ANY', allowedFunctionNames: [chosenFunction(choice, 'tool_choice')] };
    case 'allowed_tools':
      refuseOthers(choice, 'tool_choice.', ['type', 'allowed_tools']);
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
    allowedFunctionNames: tools.map((tool: unknown, index) => chosenFunction(tool, `${path}.tools[${String(index)}]`)),
  };
}

function modeOf(choice: unknown, auto: string, path: string): string {
  if (choice === 'auto') return auto;
  if (choice === 'none') return 'NONE';
  if (choice === 'required') return 'ANY';
  throw new UntranslatableError(path, `${JSON.stringify(choice)} ${NO_COUNTERPART}`);
}
