import type { IncomingMessage } from 'node:http';
import type { ModelCatalogue } from './model.catalogue.js';
import { ANY_MODEL, type QuotaJudge } from '../quota/quota.judge.js';
import { isObject } from '../request/json.checks.js';
import { methodNotAllowed, ProviderError } from '../provider.error.js';
import { parseJson, readBody } from '../request/request.body.js';

/** Sets and shows the limits, by any name that a model answers to. */
export class QuotaControl {
  constructor(
    private readonly judge: QuotaJudge,
    private readonly models: ModelCatalogue,
  ) {}

  /** `/control/limits`: POST sets, DELETE removes all, GET shows. The limits after it. @throws ProviderError 400 or 405. */
  async answer(request: IncomingMessage): Promise<object> {
    switch (request.method) {
      case 'POST':
        this.post(parseJson(await readBody(request)));
        break;
      case 'DELETE':
        this.judge.unlimit();
        break;
      case 'GET':
        break;
      default:
        throw methodNotAllowed(request);
    }
    return this.judge.list();
  }

  /** @throws RangeError naming the fault; then nothing is changed. */
  limit(texts: Readonly<Record<string, string>>): void {
    this.judge.limit(Object.entries(texts).map(([name, text]) => [this.catalogueName(name), text]));
  }

  /** With everything that has happened so far. */
  books(): Promise<readonly object[]> {
    return this.judge.toJson();
  }

  /** What lies on the windows and what runs stays. */
  resetBooks(): Promise<void> {
    return this.judge.resetBooks();
  }

  private post(body: unknown): void {
    if (!isTexts(body)) {
      const example = '{"gpt-4.1": "rpm=60,tpm=90000"}';
      throw new ProviderError(400, `limits must be texts by model, such as ${example}`, { code: 'invalid_limits' });
    }
    try {
      this.limit(body);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new ProviderError(400, error.message, { code: 'invalid_limits' });
    }
  }

  private catalogueName(name: string): string {
    if (name === ANY_MODEL) return name;
    const model = this.models.find(name);
    if (model === undefined) throw new RangeError(`limits of ${name}: there is no such model`);
    return model.name;
  }
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}
