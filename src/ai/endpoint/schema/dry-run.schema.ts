import type { Schema } from '../../../http/index.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };
const USD: Schema = { type: 'number', minimum: 0 };

/** What `POST /v1/chat/completions?dryRun=true` answers. */
export const DRY_RUN_SCHEMAS = {
  ChatCompletionDryRun: {
    type: 'object',
    description: 'Where the request would go now, and what it would cost. Nobody was called.',
    required: ['object', 'model', 'provider', 'route', 'candidates', 'tokens', 'cost_usd'],
    properties: {
      object: { type: 'string', enum: ['chat.completion.dry_run'] },
      model: { type: 'string', description: 'The catalogue name of the model that would be tried first' },
      provider: { type: 'string', description: 'The provider that would be called first' },
      route: { type: 'string', description: 'As `x-coordinator-route` would say' },
      candidates: {
        type: 'array',
        description: 'Who may answer, in the order in which they would be tried',
        items: {
          type: 'object',
          required: ['model', 'provider'],
          properties: {
            model: { type: 'string', description: 'The catalogue name' },
            provider: { type: 'string' },
            passed_over: { type: 'string', description: 'Why it would not be tried now; absent: it would be' },
          },
        },
      },
      tokens: {
        type: 'object',
        required: ['prompt', 'prompt_is_bound', 'max_completion'],
        properties: {
          prompt: { ...COUNT, description: "By this service's count, corrected by the provider's earlier ones" },
          prompt_is_bound: {
            type: 'boolean',
            description: 'The prompt was too long to count now: `prompt` is an upper bound',
          },
          max_completion: { ...COUNT, description: 'The most that all its choices together may have' },
        },
      },
      cost_usd: {
        type: 'object',
        nullable: true,
        description: 'By the prices of the deployment that would be called first; null: it has none',
        required: ['prompt', 'at_most'],
        properties: {
          prompt: { ...USD, description: 'Of the prompt, nothing of it from a cache' },
          at_most: { ...USD, description: 'The same with the longest answer' },
        },
      },
    },
  },
} satisfies Record<string, Schema>;

/** By the shipped coordinator.yaml, while one deployment is left alone. */
export const DRY_RUN_EXAMPLE = {
  object: 'chat.completion.dry_run',
  model: 'gpt-4.1',
  provider: 'openai',
  route: 'requested',
  candidates: [
    {
      model: 'gpt-4.1',
      provider: 'holysheep',
      passed_over: 'gpt-4.1 at holysheep has failed lately and is left alone for a while',
    },
    { model: 'gpt-4.1', provider: 'openai' },
    { model: 'gemini-2.5-flash', provider: 'holysheep' },
  ],
  tokens: { prompt: 10, prompt_is_bound: false, max_completion: 100 },
  cost_usd: { prompt: 0.00002, at_most: 0.00082 },
};
