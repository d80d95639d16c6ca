import type { SeededRandom } from '../simulation/seeded.random.js';

/** What a frontend or an operator would send. */
export interface Template {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What is there to be asked for. */
export interface Ground {
  readonly models: readonly [string, ...string[]];
  readonly turns: readonly { readonly conversation: string; readonly turn: string }[];
}

type Make = (random: SeededRandom, ground: Ground) => Template;

const CONVERSATIONS = 24;

const conversation = (random: SeededRandom): string => `/v1/conversations/fuzz-${String(random.below(CONVERSATIONS))}`;

const turnOf = (random: SeededRandom, { turns }: Ground): string => {
  const { conversation: id, turn } = turns[random.below(turns.length)] ?? { conversation: 'none', turn: 'none' };
  return `/v1/conversations/${id}/turns/${turn}`;
};

const messages = (random: SeededRandom): unknown[] => [
  ...(random.chance(0.3) ? [{ role: 'system', content: 'Be brief.' }] : []),
  { role: 'user', content: `words:3 say ${String(random.below(50))}` },
];

const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };

const chat = (random: SeededRandom, { models }: Ground): Record<string, unknown> => ({
  model: random.pick([...models]),
  messages: messages(random),
  ...(random.chance(0.3) && { stream: true, stream_options: { include_usage: true } }),
  ...(random.chance(0.3) && { temperature: 0.5, max_tokens: 16, stop: ['x'], seed: 1, user: 'u' }),
  ...(random.chance(0.1) && { tools: [TOOL], tool_choice: 'auto' }),
  ...(random.chance(0.1) && { response_format: { type: 'json_object' } }),
  ...(random.chance(0.1) && { models: [...models], cache: false }),
  ...(random.chance(0.1) && { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, PICTURE] }] }),
});

const turn = (random: SeededRandom): Record<string, unknown> => ({
  content: `words:3 turn ${String(random.below(20))}`,
  ...(random.chance(0.4) && { stream: true }),
  ...(random.chance(0.2) && { max_tokens: 8, temperature: 0 }),
});

const completion: Make = (random, ground) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  body: chat(random, ground),
  ...(random.chance(0.2) && { headers: { 'idempotency-key': `fuzz-${String(random.below(40))}` } }),
});

const newTurn: Make = (random) => ({
  method: 'POST',
  path: `${conversation(random)}/turns`,
  body: turn(random),
  headers: random.chance(0.5) ? { 'idempotency-key': `turn-${String(random.below(40))}` } : {},
});

/** Those asked for most stand more than once. */
export const TEMPLATES: readonly [Make, ...Make[]] = [
  completion,
  ...[completion, completion, completion, completion, completion],
  (random, ground) => ({ method: 'POST', path: '/v1/chat/completions?dryRun=true', body: chat(random, ground) }),
  (random, ground) => ({
    method: 'POST',
    path: '/v1/chat/completions/batch',
    headers: random.chance(0.3) ? { accept: 'text/event-stream' } : {},
    body: { model: ground.models[0], concurrency: 2, requests: [{ messages: messages(random) }, chat(random, ground)] },
  }),
  (random) => ({ method: 'PUT', path: conversation(random), body: { title: 'A title', metadata: { a: 'b' } } }),
  (_random, { models }) => ({
    method: 'POST',
    path: '/v1/conversations',
    body: { model: models[0], system: 'Be brief.' },
  }),
  (random) => ({ method: 'PATCH', path: conversation(random), body: { title: 'Another', system: 'Be kind.' } }),
  () => ({ method: 'GET', path: '/v1/conversations?limit=5' }),
  (random) => ({ method: 'GET', path: conversation(random) }),
  (random) => ({ method: 'DELETE', path: `${conversation(random)}${random.chance(0.5) ? '/messages' : ''}` }),
  (random) => ({ method: 'GET', path: `${conversation(random)}/messages?after=0&limit=10` }),
  (random) => ({ method: 'GET', path: `${conversation(random)}/${random.pick(['window', 'export'])}` }),
  ...[newTurn, newTurn, newTurn],
  (random, ground) => ({ method: 'GET', path: turnOf(random, ground) }),
  (random, ground) => ({
    method: 'GET',
    path: `${turnOf(random, ground)}/events`,
    headers: { 'last-event-id': String(random.below(9)) },
  }),
  (random, ground) => ({ method: 'POST', path: `${turnOf(random, ground)}/${random.pick(['cancel', 'regenerate'])}` }),
  (random) => ({
    method: 'POST',
    path: '/v1/chat',
    body: { user_id: `u${String(random.below(9))}`, message: 'words:3 hello' },
  }),
  (random, { models }) => ({ method: 'GET', path: random.pick(['/v1/models', `/v1/models/${models[0]}`]) }),
  (random) => ({ method: 'GET', path: random.pick(['/v1/usage', '/v1/usage/ledger?limit=5']) }),
  (random) => ({ method: 'GET', path: random.pick(['/v1/locks', '/v1/locks/a', '/v1/locks?limit=5', '/v1/status']) }),
  () => ({ method: 'DELETE', path: '/v1/locks/nobody?mode=now' }),
  (random) => ({ method: 'GET', path: random.pick(['/health', '/ready', '/metrics', '/docs', '/docs-json', '/']) }),
  (random) => ({ method: 'OPTIONS', path: random.pick(['/v1/models', '/v1/chat/completions', '*', '/none']) }),
];
