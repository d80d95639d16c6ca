import type { ModelCatalogue } from './model.catalogue.js';
import type { QuotaJudge } from '../quota/quota.judge.js';
import { rateLimitError } from '../quota/quota.refusal.js';
import { isObject } from '../request/json.checks.js';
import type { SimulatedModel } from '../simulator.options.js';
import type { TrafficRecord } from '../traffic/traffic.record.js';
import type { Exchange } from '../wire/exchange.js';

export interface Arrival {
  readonly model: SimulatedModel;
  /** The caller's. */
  readonly key: string | undefined;
  /** The parsed JSON, valid or not: what is refused for its content counts as a request all the same. */
  readonly body: unknown;
  readonly record: TrafficRecord;
}

/** Has every chat request judged by its model's quota as it arrives. */
export class ChatAdmission {
  constructor(
    private readonly models: ModelCatalogue,
    private readonly judge: QuotaJudge,
  ) {}

  /** Puts the rate limits into the answer's head. The prompt's tokens. @throws ProviderError 429. */
  async admit({ response }: Exchange, { model, key, body, record }: Arrival): Promise<number> {
    const prompt = this.models.counterOf(model).countRequest(body);
    const outputTokens = outputTokensOf(body);
    const visit = this.judge.arrive(
      model.name,
      key,
      prompt.then((promptTokens) => ({ promptTokens, outputTokens })),
    );
    record.visit = visit;
    const { refusal, headers } = await visit.ruling;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (refusal !== undefined) throw rateLimitError(model.name, refusal);
    return prompt;
  }
}

/** What all choices together may take, where the request says so. */
function outputTokensOf(body: unknown): number | undefined {
  if (!isObject(body)) return undefined;
  const each = wholeOf(body['max_completion_tokens']) ?? wholeOf(body['max_tokens']);
  return each === undefined ? undefined : each * (wholeOf(body['n']) ?? 1);
}

function wholeOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
