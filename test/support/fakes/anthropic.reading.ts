import type { Understood, UnderstoodPart, UnderstoodTool, UnderstoodTurn } from '../../contract/provider.rig.js';
import type { ReceivedRequest } from '../scripted-upstream.js';
import { list, type Members, number, object, onlyKnown, optional, RefusedRequest, text } from './reading.js';

const LATEST = [
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
  'service_tier',
  'cache_control',
];

/** https://platform.claude.com/docs/en/api/versioning */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  '2023-06-01': [...LATEST, 'temperature', 'top_p', 'top_k'],
  '2026-10-21': LATEST,
};

function noVersion(): never {
  throw new RefusedRequest('anthropic-version: header is required');
}

/** Reads a request as strictly as Anthropic does. @throws RefusedRequest where it would answer 400 */
export function understandMessages({ body, headers }: ReceivedRequest): Understood {
  onlyKnown(body, '', MEMBERS[String(headers['anthropic-version'])] ?? noVersion());
  const turns = turnsOf(body);
  checkResults(turns);
  const tools = list(body['tools'] ?? [], 'tools').map((tool) => toolOf(object(tool, 'tools')));
  const names = namesOf(turns);
  return {
    model: text(body['model'], 'model'),
    system: list(body['system'] ?? [], 'system').map((block) => saidBy(object(block, 'system'))),
    turns: turns.map(({ role, content }) => ({ role, parts: content.map((block) => partOf(block, names)) })),
    tools,
    ...optional('toolChoice', body['tool_choice'], (choice) => choiceOf(object(choice, 'tool_choice'), tools)),
    ...optional(
      'isParallel',
      object(body['tool_choice'] ?? {}, '')['disable_parallel_tool_use'],
      (off) => off !== true,
    ),
    maxTokens: limitOf(body['max_tokens']),
    ...optional('temperature', body['temperature'], (value) => fraction(value, 'temperature')),
    ...optional('topP', body['top_p'], (value) => fraction(value, 'top_p')),
    ...optional('stop', body['stop_sequences'], (value) => list(value, 'stop_sequences').map(stopSequence)),
    ...optional('schema', object(body['output_config'] ?? {}, 'output_config')['format'], schemaOf),
    isStream: body['stream'] === true,
  };
}

interface BlockTurn {
  readonly role: UnderstoodTurn['role'];
  readonly content: readonly Members[];
}

function turnsOf(body: Members): readonly BlockTurn[] {
  const turns = list(body['messages'], 'messages').map((message, index): BlockTurn => {
    const path = `messages.${String(index)}`;
    const { role, content, ...others } = object(message, path);
    onlyKnown(others, `${path}.`, []);
    if (role !== 'user' && role !== 'assistant')
      throw new RefusedRequest(`${path}.role: Input should be 'user' or 'assistant'`);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content, `${path}.content`);
    if (blocks.length === 0) throw new RefusedRequest(`${path}: all messages must have non-empty content`);
    return { role, content: blocks.map((block) => object(block, path)) };
  });
  if (turns[0]?.role !== 'user') throw new RefusedRequest('messages: first message must use the "user" role');
  return turns;
}

/** Every call of a turn has its result at the beginning of the next one, and no result is without its call. */
function checkResults(turns: readonly BlockTurn[]): void {
  turns.forEach(({ content }, index) => {
    const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const next = turns[index + 1]?.content ?? [];
    const results = next.slice(0, calls.length).map((block) => block['tool_use_id']);
    const missing = turns.length > index + 1 ? calls.filter((id) => !results.includes(id)) : [];
    if (missing.length > 0) {
      throw new RefusedRequest(
        `messages.${String(index)}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`,
      );
    }
    const asked = turns[index - 1]?.content.map(({ id }) => id) ?? [];
    const stray = content.find((block) => block['type'] === 'tool_result' && !asked.includes(block['tool_use_id']));
    if (stray !== undefined) {
      throw new RefusedRequest(`messages.${String(index)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`);
    }
  });
}

function namesOf(turns: readonly BlockTurn[]): ReadonlyMap<unknown, string> {
  const uses = turns.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'));
  return new Map(uses.map(({ id, name }) => [id, text(name, 'name')]));
}

function partOf(block: Members, names: ReadonlyMap<unknown, string>): UnderstoodPart {
  switch (block['type']) {
    case 'text':
      return { kind: 'text', text: saidBy(block) };
    case 'image':
      return { kind: 'image', source: imageOf(object(block['source'], 'source')) };
    case 'tool_use':
      if (!/^[a-zA-Z0-9_-]+$/.test(text(block['id'], 'id'))) {
        throw new RefusedRequest("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
      }
      return { kind: 'call', name: text(block['name'], 'name'), input: object(block['input'], 'input') };
    case 'tool_result': {
      const content = list(block['content'] ?? [], 'content').map((part) => saidBy(object(part, 'content')));
      return { kind: 'result', of: names.get(block['tool_use_id']) ?? '', text: content.join('') };
    }
    default:
      throw new RefusedRequest(
        `messages: Input tag '${String(block['type'])}' does not match any of the expected tags`,
      );
  }
}

function saidBy(block: Members): string {
  if (block['type'] !== 'text') throw new RefusedRequest('content: Input should be text');
  const said = text(block['text'], 'text');
  if (said === '') throw new RefusedRequest('messages: text content blocks must be non-empty');
  return said;
}

function imageOf({ type, url, media_type: mediaType, data }: Members): string {
  if (type === 'url') return text(url, 'url');
  if (type !== 'base64') throw new RefusedRequest(`source: no type ${String(type)}`);
  return `data:${text(mediaType, 'media_type')};base64,${text(data, 'data')}`;
}

function toolOf(tool: Members): UnderstoodTool {
  onlyKnown(tool, 'tools.', ['name', 'description', 'input_schema', 'strict', 'cache_control', 'type']);
  const schema = object(tool['input_schema'], 'tools.input_schema');
  if (schema['type'] !== 'object') throw new RefusedRequest("tools.input_schema.type: Input should be 'object'");
  return {
    name: text(tool['name'], 'tools.name'),
    ...optional('description', tool['description'], (value) => text(value, 'description')),
    schema,
  };
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', none: 'none', any: 'required' };

function choiceOf({ type, name }: Members, tools: readonly UnderstoodTool[]): string {
  if (tools.length === 0) throw new RefusedRequest('tool_choice may only be specified while providing tools');
  const choice = type === 'tool' ? text(name, 'tool_choice.name') : CHOICES[String(type)];
  if (choice === undefined) throw new RefusedRequest(`tool_choice: no type ${String(type)}`);
  return choice;
}

function limitOf(value: unknown): number {
  const limit = number(value ?? undefined, 'max_tokens');
  if (!Number.isInteger(limit) || limit < 1) throw new RefusedRequest('max_tokens: must be greater than or equal to 1');
  return limit;
}

function fraction(value: unknown, path: string): number {
  const share = number(value, path);
  if (share < 0 || share > 1) throw new RefusedRequest(`${path}: range: 0..1`);
  return share;
}

function stopSequence(value: unknown): string {
  const sequence = text(value, 'stop_sequences');
  if (sequence.trim() === '')
    throw new RefusedRequest('stop_sequences: each stop sequence must contain non-whitespace');
  return sequence;
}

function schemaOf(format: unknown): unknown {
  const { type, schema, ...others } = object(format, 'output_config.format');
  onlyKnown(others, 'output_config.format.', []);
  if (type !== 'json_schema') throw new RefusedRequest("output_config.format.type: Input should be 'json_schema'");
  return object(schema, 'output_config.format.schema');
}
