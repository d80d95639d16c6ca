import { hash } from 'node:crypto';
import { modelAt, openTiers, providerAt } from './config-file.js';
import { type Coordinator, startConfigured } from './configured-coordinator.js';
import { type Answer, postCompletion, readAnswer } from './completion-rig.js';
import { booksOf, type QuotaBooks, startTestSimulator, type TestSimulator } from './simulator.js';

/** The names of the judge's models. */
export const MODEL = 'gpt-4.1';
export const OTHER = 'claude-sonnet-4.5';

export interface QuotaRigOptions {
  /** Members of the models, by name; the judge's MODEL and OTHER are served, at 2 and 8 USD per million tokens. */
  readonly models?: Readonly<Record<string, object>>;
  /** Callers by name; the name is the key as well. Default: everybody is `anonymous`. */
  readonly callers?: Readonly<Record<string, object>>;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly model?: string;
  /** Default: everybody's. */
  readonly caller?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Further members of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

let prompts = 0;

/** A coordinator before the judge: limits are set here, and checked there. */
export class QuotaRig {
  private constructor(
    readonly judge: TestSimulator,
    readonly coordinator: Coordinator,
  ) {}

  static async start({ models = {}, callers = {}, environment }: QuotaRigOptions): Promise<QuotaRig> {
    const judge = await startTestSimulator();
    const file = {
      providers: [providerAt('judge', judge.url)],
      models: [MODEL, OTHER].map((name) => modelAt('judge', name, models[name])),
      tiers: openTiers([MODEL, OTHER]),
      callers: Object.entries(callers).map(([name, more]) => ({
        name,
        keySha256: hash('sha256', name),
        tier: 'enterprise',
        ...more,
      })),
    };
    const coordinator = await startConfigured({
      file,
      keys: { JUDGE_KEY: 'none' },
      ...(environment && { environment }),
    });
    return new QuotaRig(judge, coordinator);
  }

  async close(): Promise<void> {
    await this.coordinator.close();
    await this.judge.close();
  }

  /** Each with a prompt of its own. */
  async ask(asked: Asked = {}): Promise<Answer> {
    return readAnswer(await this.send(asked));
  }

  send({ model = MODEL, caller, headers = {}, signal, body = {} }: Asked): Promise<Response> {
    prompts += 1;
    const messages = [{ role: 'user', content: `Question ${String(prompts)}` }];
    const authorization = caller === undefined ? {} : { authorization: `Bearer ${caller}` };
    return postCompletion(this.coordinator.url, { model, messages, ...body }, { ...authorization, ...headers }, signal);
  }

  /** Several at a time. */
  askAll(times: number, asked: Asked = {}): Promise<readonly Answer[]> {
    return Promise.all(Array.from({ length: times }, () => this.ask(asked)));
  }

  async books(model = MODEL): Promise<QuotaBooks> {
    return booksOf(await this.judge.stats(), model);
  }

  async usage(caller?: string): Promise<UsageAnswer> {
    const headers = caller === undefined ? {} : { authorization: `Bearer ${caller}` };
    const response = await fetch(`${this.coordinator.url}/v1/usage`, { headers });
    return (await response.json()) as UsageAnswer;
  }
}

export interface UsageAnswer {
  readonly periods: {
    readonly day: { readonly requests: number; readonly cost_usd: number; readonly prompt_tokens: number };
  };
  readonly budgets: readonly {
    readonly unit: string;
    readonly period: string;
    readonly limit: number;
    readonly spent: number;
    readonly reserved: number;
    readonly left: number;
  }[];
}

export const statuses = (answers: readonly Answer[]): readonly number[] =>
  answers.map(({ status }) => status).sort((one, other) => one - other);
