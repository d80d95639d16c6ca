import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiExtraModels, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { ApiErrors, type DocumentedErrors } from '../../http/index.js';
import { LedgerLine } from './ledger.dto.js';
import { UsageCard, type UsageSumsCard } from './usage.dto.js';

const ERRORS: DocumentedErrors = {
  insufficient_scope: { message: 'this API key lacks the scope "admin"' },
  store_unavailable: { message: 'the store is not available now; try again later' },
};

const SUMS: Pick<UsageSumsCard, keyof UsageSumsCard> = {
  requests: 128,
  cache_hits: 12,
  joined: 3,
  partial: 1,
  failed: 2,
  prompt_tokens: 40_210,
  cached_tokens: 8_192,
  completion_tokens: 12_003,
  reasoning_tokens: 0,
  cost_usd: 0.164156,
  unpriced_requests: 0,
  estimated_requests: 1,
};

const USAGE_EXAMPLE: UsageCard = {
  object: 'usage',
  caller: 'acme',
  periods: {
    day: {
      start: '2026-11-29T00:00:00.000Z',
      end: '2026-11-30T00:00:00.000Z',
      ...SUMS,
      models: [{ model: 'gpt-4.1', ...SUMS }],
    },
    month: {
      start: '2026-11-01T00:00:00.000Z',
      end: '2026-12-01T00:00:00.000Z',
      ...SUMS,
      models: [{ model: 'gpt-4.1', ...SUMS }],
    },
  },
  limits: { rpm: 600, tpm: 200_000, concurrency: null },
  budgets: [
    {
      unit: 'usd',
      period: 'day',
      limit: 10,
      spent: 0.164156,
      reserved: 0.02,
      left: 9.815844,
      resets_at: '2026-11-30T00:00:00.000Z',
      hard: true,
    },
  ],
};

const LINE_EXAMPLE: LedgerLine = {
  id: '1764417600000-0',
  object: 'usage.entry',
  created_at: '2026-11-29T12:00:00.000Z',
  caller: 'acme',
  request_id: 'req-2f1c',
  requested_model: 'gpt-4.1-2025-04-14',
  model: 'gpt-4.1',
  provider: 'openai',
  deployment: 'openai/gpt-4.1-2025-04-14',
  outcome: 'complete',
  code: null,
  prompt_tokens: 10,
  cached_tokens: 0,
  completion_tokens: 2,
  reasoning_tokens: 0,
  cost_usd: 0.000036,
  estimated: false,
  attempts: 1,
  idempotency_key_sha256: null,
};

const EXPORT = `One JSON object a line, a \`LedgerLine\` each, in the order in which the calls were booked. To go on, ask again with \`after\` set to the \`id\` of the last line; a call that was booked late is not missed by it. An answer with fewer lines than \`limit\` is at the end. What breaks off in its midst ends with a line that is an \`Error\`.`;

export function RetrieveUsageDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getUsage',
      summary: 'What a caller has used in a day and its month, and what is left of its budgets',
    }),
    ApiOkResponse({
      type: UsageCard,
      description: 'As far as calls have been booked: what other pods have answered follows within a second.',
      example: USAGE_EXAMPLE,
    }),
    ApiErrors({ ...ERRORS, invalid_request: { message: 'date: date must be a date: 2026-11-29', param: 'date' } }),
  );
}

export function ExportLedgerDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'exportLedger', summary: "A caller's calls, one by one", description: EXPORT }),
    ApiExtraModels(LedgerLine),
    ApiExtension('x-line-data', {
      oneOf: [{ $ref: getSchemaPath(LedgerLine) }, { $ref: getSchemaPath('Error') }],
    }),
    ApiOkResponse({
      description: 'JSON Lines. Empty: nothing follows.',
      content: {
        'application/x-ndjson': {
          schema: { type: 'string', description: 'JSON Lines: `LedgerLine`, or `Error` as the last one.' },
          examples: { line: { summary: 'One call', value: `${JSON.stringify(LINE_EXAMPLE)}\n` } },
        },
      },
    }),
    ApiErrors({
      ...ERRORS,
      invalid_request: { message: 'limit: limit must not be less than 1', param: 'limit' },
    }),
  );
}
