import type { Understood, UnderstoodPart, UnderstoodTool, UnderstoodTurn } from '../../contract/provider.rig.js';
import type { ReceivedRequest } from '../scripted-upstream.js';
import { list, type Members, number, object, onlyKnown, optional, RefusedRequest, text } from './reading.js';

const MEMBERS = [
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'labels',
];

const CONFIG = [
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'responseLogprobs',
  'logprobs',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'mediaResolution',
  'thinkingConfig',
];

/** Reads a request as strictly as Vertex AI does. @throws RefusedRequest where it would answer 400 INVALID_ARGUMENT */
export function understandGemini({ path, body }: ReceivedRequest): Understood {
  const [, model, method] = /\/publishers\/google\/models\/([^:/]+):(\w+)(?:\?alt=sse)?$/.exec(path) ?? [];
  if (model === undefined) throw new RefusedRequest(`no such path: ${path}`);
  onlyKnown(body, '', MEMBERS);
  const config = object(body['generationConfig'] ?? {}, 'generation_config');
  onlyKnown(config, 'generation_config.', CONFIG);
  checkLabels(object(body['labels'] ?? {}, 'labels'));
  const tools = list(body['tools'] ?? [], 'tools').flatMap(toolsOf);
  return {
    model,
    system: systemOf(body['systemInstruction']),
    turns: turnsOf(list(body['contents'], 'contents')),
    tools,
    ...optional('toolChoice', body['toolConfig'], (value) => choiceOf(object(value, 'tool_config'), tools)),
    ...optional('maxTokens', config['maxOutputTokens'], (value) => number(value, 'max_output_tokens')),
    ...optional('temperature', config['temperature'], (value) => number(value, 'temperature')),
    ...optional('topP', config['topP'], (value) => number(value, 'top_p')),
    ...optional('stop', config['stopSequences'], (value) => list(value, 'stop').map((stop) => text(stop, 'stop'))),
    ...optional('schema', config['responseJsonSchema'], (schema) => schemaOf(schema, config)),
    isStream: method === 'streamGenerateContent' && path.endsWith('?alt=sse'),
  };
}

function systemOf(instruction: unknown): readonly string[] {
  if (instruction === undefined) return [];
  const { parts } = object(instruction, 'system_instruction');
  return list(parts, 'system_instruction.parts').map((part) => text(object(part, 'parts')['text'], 'text'));
}

function schemaOf(schema: unknown, config: Members): unknown {
  if (config['responseMimeType'] !== 'application/json') {
    throw new RefusedRequest('response_json_schema requires response_mime_type application/json');
  }
  return object(schema, 'response_json_schema');
}

function turnsOf(items: readonly unknown[]): readonly UnderstoodTurn[] {
  if (items.length === 0) throw new RefusedRequest('at least one contents field is required');
  const contents = items.map(contentOf);
  contents.forEach(({ parts }, index) => {
    checkResults(contents[index - 1]?.parts ?? [], parts);
  });
  const turns: { role: UnderstoodTurn['role']; parts: UnderstoodPart[] }[] = [];
  for (const { role, parts } of contents) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

function contentOf(content: unknown): UnderstoodTurn {
  const { role, parts, ...others } = object(content, 'contents');
  onlyKnown(others, 'contents.', []);
  if (role !== 'user' && role !== 'model') throw new RefusedRequest('Please use a valid role: user, model.');
  const read = list(parts, 'parts').map((part) => partOf(object(part, 'parts')));
  if (read.length === 0) throw new RefusedRequest('must include at least one parts field');
  return { role: role === 'model' ? 'assistant' : 'user', parts: read };
}

/** What was called is answered at once, and nothing else. */
function checkResults(before: readonly UnderstoodPart[], parts: readonly UnderstoodPart[]): void {
  const calls = before.filter(({ kind }) => kind === 'call').length;
  const results = parts.filter(({ kind }) => kind === 'result').length;
  if (calls !== results) {
    throw new RefusedRequest(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
  }
}

function partOf({ thought, thoughtSignature, ...part }: Members): UnderstoodPart {
  if (thoughtSignature !== undefined) text(thoughtSignature, 'thought_signature');
  const [kind, ...more] = Object.keys(part);
  if (kind === undefined || more.length > 0) throw new RefusedRequest('parts: oneof field data must have one value');
  const read = PARTS[kind];
  if (read === undefined) throw new RefusedRequest(`Unknown name "${kind}" at 'contents.parts': Cannot find field.`);
  return read(kind === 'text' ? { said: part[kind], thought } : object(part[kind], kind));
}

const PARTS: Readonly<Partial<Record<string, (value: Members) => UnderstoodPart>>> = {
  text: ({ said, thought }) => ({ kind: 'text', text: `${thought === true ? 'thought: ' : ''}${text(said, 'text')}` }),
  inlineData: ({ mimeType, data }) => ({
    kind: 'image',
    source: `data:${text(mimeType, 'mime_type')};base64,${text(data, 'data')}`,
  }),
  fileData: ({ mimeType, fileUri }) => {
    if (!/^\w+\/[\w.-]+$/.test(text(mimeType, 'mime_type'))) throw new RefusedRequest('mime_type is not supported');
    return { kind: 'image', source: text(fileUri, 'file_uri') };
  },
  functionCall: ({ name, args, ...others }) => {
    onlyKnown(others, 'function_call.', []);
    return { kind: 'call', name: text(name, 'name'), input: object(args, 'args') };
  },
  functionResponse: resultOf,
};

function resultOf({ name, response, ...others }: Members): UnderstoodPart {
  onlyKnown(others, 'function_response.', []);
  const { output } = object(response, 'response');
  return { kind: 'result', of: text(name, 'name'), text: text(output, 'output') };
}

function toolsOf(tool: unknown): readonly UnderstoodTool[] {
  const { functionDeclarations, ...others } = object(tool, 'tools');
  onlyKnown(others, 'tools.', []);
  return list(functionDeclarations, 'function_declarations').map((declaration) => {
    const { name, description, parametersJsonSchema, ...rest } = object(declaration, 'function_declarations');
    onlyKnown(rest, 'function_declarations.', []);
    if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(text(name, 'name'))) throw new RefusedRequest('Invalid function name');
    return {
      name: text(name, 'name'),
      ...optional('description', description, (value) => text(value, 'description')),
      schema: parametersJsonSchema,
    };
  });
}

const MODES: Readonly<Record<string, string>> = { AUTO: 'auto', NONE: 'none', ANY: 'required', VALIDATED: 'validated' };

function choiceOf(toolConfig: Members, tools: readonly UnderstoodTool[]): string {
  const { mode, allowedFunctionNames } = object(toolConfig['functionCallingConfig'], 'function_calling_config');
  const choice = MODES[text(mode, 'mode')];
  if (choice === undefined) throw new RefusedRequest('Invalid value at mode');
  const names = list(allowedFunctionNames ?? [], 'allowed_function_names').map((name) => text(name, 'name'));
  if (names.length === 0) return choice;
  if (mode !== 'ANY' && mode !== 'VALIDATED')
    throw new RefusedRequest('allowed_function_names should only be set when the mode is ANY or VALIDATED');
  const known = tools.map(({ name }) => name);
  if (!names.every((name) => known.includes(name))) throw new RefusedRequest('allowed_function_names: unknown name');
  return names.join();
}

function checkLabels(labels: Members): void {
  for (const [name, value] of Object.entries(labels)) {
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(name) || !/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(text(value, name)))
      throw new RefusedRequest(`Label ${name} does not follow the rules for labels`);
  }
}
